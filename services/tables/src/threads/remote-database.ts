import { readingThrough } from "@workflow/db";
import type { Reading } from "@workflow/db";
import type { Outcome, PlannedPage, RowPage } from "../snapshots/index.ts";
import type { ReadingConnections, ReadingDatabase } from "../store/reading-database.ts";
import type { Place, Reply, Request } from "./protocol.ts";

/** Has a request answered by the thread that has the connections. */
export type Call = (request: Request) => Promise<Reply>;

/**
 * The database in a thread that has no connections: the main thread makes all statements, on connections of
 * the company's share, and rows are checked and parsed here.
 */
export class RemoteConnections implements ReadingConnections {
  readonly #call: Call;
  readonly #places = new WeakMap<Reading, Place>();
  #transactions = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  of(companyId: string): ReadingDatabase {
    const reading = this.#readingAt({ companyId, transaction: null });
    const database: ReadingDatabase = {
      ...reading,
      transaction: (work) => this.#inTransaction(companyId, work),
    };
    this.#places.set(database, { companyId, transaction: null });
    return database;
  }

  /** Has the main thread read a page, and keep its rows for the question. */
  async readPage(database: Reading, page: PlannedPage, ask: number): Promise<Outcome<RowPage>> {
    const place = this.#places.get(database);
    if (place === undefined) throw new Error("A page is read through a database of this thread.");
    const reply = await this.#call({ kind: "page", place, ask, page });
    if (reply.kind !== "page") throw new Error(`A page was answered by ${reply.kind}.`);
    const { outcome } = reply;
    // The rows stay where they were read.
    return typeof outcome === "object" ? { answer: { rows: [], total: page.plan.total } } : outcome;
  }

  #readingAt(place: Place): Reading {
    const reading = readingThrough(async (statement) => {
      const reply = await this.#call({ kind: "rows", place, statement });
      if (reply.kind !== "rows") throw new Error(`A statement was answered by ${reply.kind}.`);
      return reply.rows;
    });
    this.#places.set(reading, place);
    return reading;
  }

  async #inTransaction<Result>(
    companyId: string,
    work: (transaction: Reading) => Promise<Result>,
  ): Promise<Result> {
    const transaction = ++this.#transactions;
    await this.#call({ kind: "begin", companyId, transaction });
    let failed = true;
    try {
      const result = await work(this.#readingAt({ companyId, transaction }));
      failed = false;
      return result;
    } finally {
      await this.#call({ kind: "end", transaction, failed });
    }
  }
}
