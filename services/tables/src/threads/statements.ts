import { databaseErrorToAppError, runPlain } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import type { Caller, CompanyConnections } from "../company-connections.ts";
import { readPage } from "../snapshots/index.ts";
import type { RowPage } from "../snapshots/index.ts";
import type { Place, Reply, Request } from "./protocol.ts";

/** A transaction in which another thread works. */
interface Open {
  readonly transaction: Transaction;
  readonly end: PromiseWithResolvers<void>;
  /** Settles at the end of the transaction. */
  readonly whole: Promise<void>;
}

/** The thread has given up a transaction, which is rolled back. */
class GivenUp extends Error {}

/** Makes the statements of one thread without connections, each on its company's share. */
export class Statements {
  readonly #connections: CompanyConnections;
  readonly #onPage: (ask: number, page: RowPage) => void;
  readonly #open = new Map<number, Open>();

  /** @param onPage receives each page that was read, with the question that it answers */
  constructor(connections: CompanyConnections, onPage: (ask: number, page: RowPage) => void) {
    this.#connections = connections;
    this.#onPage = onPage;
  }

  /**
   * Answers a request.
   * @param caller the caller for whom a statement waits for a connection; when the caller has left, it is not made
   * @throws AppError for callers
   */
  async answer(request: Request, caller: Caller): Promise<Reply> {
    try {
      return await this.#answer(request, caller);
    } catch (error) {
      throw databaseErrorToAppError(error);
    }
  }

  /** Rolls back all transactions of a thread that has ended. */
  giveUp(): void {
    for (const { end } of this.#open.values()) end.reject(new GivenUp());
  }

  async #answer(request: Request, caller: Caller): Promise<Reply> {
    switch (request.kind) {
      case "rows":
        return {
          kind: "rows",
          rows: await runPlain(this.#at(request.place, caller), request.statement),
        };
      case "page": {
        const outcome = await readPage(this.#at(request.place, caller), request.page);
        if (typeof outcome !== "object") return { kind: "page", outcome };
        this.#onPage(request.ask, outcome.answer);
        return { kind: "page", outcome: { answer: null } };
      }
      case "begin":
        await this.#begin(request, caller);
        return { kind: "done" };
      case "end":
        await this.#end(request);
        return { kind: "done" };
    }
  }

  #at({ companyId, transaction }: Place, caller: Caller): Queryable {
    if (transaction === null) return this.#connections.of(companyId, caller);
    const open = this.#open.get(transaction);
    if (open === undefined) throw new Error("A statement in a transaction that is over.");
    return open.transaction;
  }

  #begin(
    { companyId, transaction: id }: { companyId: string; transaction: number },
    caller: Caller,
  ): Promise<void> {
    const end = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const whole = this.#connections
      .of(companyId, caller)
      // The transaction is tried once, since a second try would have to repeat the thread's work.
      .transaction((transaction) => {
        this.#open.set(id, { transaction, end, whole });
        begun.resolve();
        return end.promise;
      }, 0)
      .finally(() => this.#open.delete(id));
    // The end of the transaction reports this error.
    whole.catch((error: unknown) => begun.reject(error));
    return begun.promise;
  }

  async #end({ transaction: id, failed }: { transaction: number; failed: boolean }): Promise<void> {
    const open = this.#open.get(id);
    if (open === undefined) return;
    if (!failed) {
      open.end.resolve();
      return open.whole;
    }
    open.end.reject(new GivenUp());
    // The thread reports its own error.
    await open.whole.catch(() => {});
  }
}
