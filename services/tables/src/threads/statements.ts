import { databaseErrorToAppError, runPlain } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import type { Caller, CompanyConnections } from "../company-connections.ts";
import { readPage } from "../snapshots/index.ts";
import type { RowPage } from "../snapshots/index.ts";
import type { Place, Reply, Request } from "./protocol.ts";

/** A transaction that another thread works in. */
interface Open {
  readonly transaction: Transaction;
  readonly end: PromiseWithResolvers<void>;
  /** Settled when it is over. */
  readonly whole: Promise<void>;
}

/** The thread has given a transaction up: what it did is rolled back. */
class GivenUp extends Error {}

/** Makes the statements of one thread that has no connections, each on the share of its company. */
export class Statements {
  readonly #connections: CompanyConnections;
  readonly #onPage: (ask: number, page: RowPage) => void;
  readonly #open = new Map<number, Open>();

  /** @param onPage is given pages that were read, with the questions that they answer */
  constructor(connections: CompanyConnections, onPage: (ask: number, page: RowPage) => void) {
    this.#connections = connections;
    this.#onPage = onPage;
  }

  /**
   * @param caller for whom a statement waits for a connection, and without whom it is not made
   * @throws AppError what is wrong, as it is told to callers
   */
  async answer(request: Request, caller: Caller): Promise<Reply> {
    try {
      return await this.#answer(request, caller);
    } catch (error) {
      throw databaseErrorToAppError(error);
    }
  }

  /** The thread is gone, and with it all that it would have done in transactions. */
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
      // Tried once: the thread would have to do its part again.
      .transaction((transaction) => {
        this.#open.set(id, { transaction, end, whole });
        begun.resolve();
        return end.promise;
      }, 0)
      .finally(() => this.#open.delete(id));
    // Whoever ends it hears of its error.
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
    // What went wrong is what the thread tells of.
    await open.whole.catch(() => {});
  }
}
