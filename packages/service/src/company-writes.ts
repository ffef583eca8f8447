import { Shares, Turns } from "@workflow/async";
import type { Database, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { RpcContext } from "@workflow/rpc";

/** The concurrent changes of one company; each uses a connection of the pool. */
const EACH = 2;
/** The limit of one company's changes that run or wait. */
const COMPANY_MAX = 256;
const RETRY_AFTER_MS = 1_000;

/**
 * Serializes callers' changes in turns between companies (D57). Changes of one object wait for each
 * other in the database. Without turns, such changes of one company could occupy all connections.
 */
export class CompanyWrites {
  readonly #database: Database;
  readonly #places = new Shares({ total: Infinity, perTenant: COMPANY_MAX });
  readonly #turns: Turns;

  /** @param poolSize the connections of the database; changes use at most half of them */
  constructor(database: Database, poolSize: number) {
    this.#database = database;
    const total = Math.max(1, Math.floor(poolSize / 2));
    this.#turns = new Turns({ perTenant: EACH, total });
  }

  /**
   * Does the work in a transaction when the company has its turn.
   *
   * @throws AppError RATE_LIMITED with details {limit: "writes"} when too many changes of the company
   * wait; the signal's reason when it was aborted first
   */
  async transaction<Result>(
    { identity, signal }: Pick<RpcContext, "identity" | "signal">,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const companyId = identity.companyId.toLowerCase();
    const leave = this.#places.take(companyId);
    if (leave === null) throw tooMany();
    try {
      const end = await this.#turns.take(companyId, signal);
      try {
        return await this.#database.transaction(work);
      } finally {
        end();
      }
    } finally {
      leave();
    }
  }
}

function tooMany(): AppError {
  return new AppError("RATE_LIMITED", "The company changes too many things at a time.", {
    details: { limit: "writes" },
    retryAfterMs: RETRY_AFTER_MS,
  });
}
