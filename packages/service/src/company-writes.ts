import { Shares, Turns } from "@workflow/async";
import type { Database, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { RpcContext } from "@workflow/rpc";

/** Changes of one company that run at a time, each on a connection of the pool. */
const EACH = 2;
/** Changes of one company that run or wait. */
const COMPANY_MAX = 256;
const RETRY_AFTER_MS = 1_000;

/**
 * Makes callers' changes in turns between companies (D57). Changes of one object wait for each other in
 * the database. Without turns they would hold all connections meanwhile, and others would get none.
 */
export class CompanyWrites {
  readonly #database: Database;
  readonly #places = new Shares({ total: Infinity, perTenant: COMPANY_MAX });
  readonly #turns: Turns;

  /** @param poolSize connections of the database; changes use at most half of them */
  constructor(database: Database, poolSize: number) {
    this.#database = database;
    const total = Math.max(1, Math.floor(poolSize / 2));
    this.#turns = new Turns({ perTenant: EACH, total });
  }

  /**
   * Does the work in a transaction, when it is the turn of the caller's company.
   *
   * @throws AppError RATE_LIMITED with details {limit: "writes"} when too many of the company wait; the
   * signal's reason when it was aborted first
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
