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
 * Sends a request to the thread with the connections. The request of a caller who has left is withdrawn, or not
 * sent; unless it was under way, it fails with the signal's reason.
 */
export type Call = (request: Request, caller: ReadingCaller | undefined) => Promise<Reply>;

/** The place of a statement, and its caller. */
interface CallerPlace {
  readonly place: Place;
  readonly caller: ReadingCaller | undefined;
}

/**
 * The database in a thread without connections. The main thread makes all statements on connections of the
 * company's share; this thread checks and parses the rows.
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

  /** Has the main thread read a page and keep its rows for the question. */
  async readPage(database: Reading, page: PlannedPage, ask: number): Promise<Outcome<RowPage>> {
    const at = this.#places.get(database);
    if (at === undefined) throw new Error("A page is read through a database of this thread.");
    const reply = await this.#call({ kind: "page", place: at.place, ask, page }, at.caller);
    if (reply.kind !== "page") throw new Error(`A page was answered by ${reply.kind}.`);
    const { outcome } = reply;
    // The rows stay in the main thread.
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
      // A transaction that has begun has to end, even when the caller has left.
      await this.#call({ kind: "end", transaction, failed }, undefined);
    }
  }
}
