import { readingThrough } from "@workflow/db";
import type { Reading } from "@workflow/db";
import type { Outcome, PlannedPage, RowPage } from "../snapshots/index.ts";
import type {
  ReadingCaller,
  ReadingConnections,
  ReadingDatabase,
} from "../store/reading-database.ts";
import type { Place, Reply, Request } from "./protocol.ts";

/**
 * Has a request answered by the thread that has the connections. The request of a caller who has gone is
 * withdrawn, or not made: it fails with the signal's reason unless it was under way.
 */
export type Call = (request: Request, caller: ReadingCaller | undefined) => Promise<Reply>;

/** Where a statement is made, and for whom. */
interface CallerPlace {
  readonly place: Place;
  readonly caller: ReadingCaller | undefined;
}

/**
 * The database in a thread that has no connections: the main thread makes all statements, on connections of
 * the company's share, and rows are checked and parsed here.
 */
export class RemoteConnections implements ReadingConnections {
  readonly #call: Call;
  readonly #places = new WeakMap<Reading, CallerPlace>();
  #transactions = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  of(companyId: string, caller?: ReadingCaller): ReadingDatabase {
    const at = { place: { companyId, transaction: null }, caller };
    const database: ReadingDatabase = {
      ...this.#readingAt(at),
      transaction: (work) => this.#inTransaction(companyId, caller, work),
    };
    this.#places.set(database, at);
    return database;
  }

  /** Has the main thread read a page, and keep its rows for the question. */
  async readPage(database: Reading, page: PlannedPage, ask: number): Promise<Outcome<RowPage>> {
    const at = this.#places.get(database);
    if (at === undefined) throw new Error("A page is read through a database of this thread.");
    const reply = await this.#call({ kind: "page", place: at.place, ask, page }, at.caller);
    if (reply.kind !== "page") throw new Error(`A page was answered by ${reply.kind}.`);
    const { outcome } = reply;
    // The rows stay where they were read.
    return typeof outcome === "object" ? { answer: { rows: [], total: page.plan.total } } : outcome;
  }

  #readingAt(at: CallerPlace): Reading {
    const { place, caller } = at;
    const reading = readingThrough(async (statement) => {
      const reply = await this.#call({ kind: "rows", place, statement }, caller);
      if (reply.kind !== "rows") throw new Error(`A statement was answered by ${reply.kind}.`);
      return reply.rows;
    });
    this.#places.set(reading, at);
    return reading;
  }

  async #inTransaction<Result>(
    companyId: string,
    caller: ReadingCaller | undefined,
    work: (transaction: Reading) => Promise<Result>,
  ): Promise<Result> {
    const transaction = ++this.#transactions;
    await this.#call({ kind: "begin", companyId, transaction }, caller);
    let failed = true;
    try {
      const result = await work(this.#readingAt({ place: { companyId, transaction }, caller }));
      failed = false;
      return result;
    } finally {
      // Whoever has gone: what has begun has to end.
      await this.#call({ kind: "end", transaction, failed }, undefined);
    }
  }
}
