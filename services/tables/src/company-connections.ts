import { Turns } from "@workflow/async";
import type { Database, Queryable } from "@workflow/db";
import { AppError } from "@workflow/errors";

/** The wait, together with that for a table's turn, is shorter than callers wait for an answer. */
const WAIT_MS = 14_000;
const RETRY_AFTER_MS = 1_000;

/** Somebody who waits for an answer, and may stop to: then the signal is aborted. */
export interface Caller {
  readonly signal: AbortSignal;
}

/**
 * Connections of the pool by company: one company has half of them at most, and companies that wait get
 * the next ones by turns (D57). A call that waits here holds no connection.
 */
export class CompanyConnections {
  readonly #database: Database;
  readonly #turns: Turns;

  constructor(database: Database) {
    const { maxPoolSize: total = 2 } = database.configuration;
    this.#database = database;
    this.#turns = new Turns({ perTenant: Math.max(1, Math.floor(total / 2)), total });
  }

  /**
   * The database as one company may use it. Everything it does waits up to 14 s for a connection, while
   * the caller does.
   *
   * @throws AppError RATE_LIMITED with details {limit: "tables"} when the company itself has too many
   *   for longer, UNAVAILABLE when others have
   */
  of(companyId: string, caller?: Caller): Queryable {
    const company = companyId.toLowerCase();
    const use = async <Result>(work: (database: Database) => Promise<Result>): Promise<Result> => {
      const leave = this.#turns.takeNow(company) ?? (await this.#wait(company, caller));
      try {
        return await work(this.#database);
      } finally {
        leave();
      }
    };
    return {
      any: (query, values) => use((database) => database.any(query, values)),
      anyFirst: (query, values) => use((database) => database.anyFirst(query, values)),
      exists: (query, values) => use((database) => database.exists(query, values)),
      many: (query, values) => use((database) => database.many(query, values)),
      manyFirst: (query, values) => use((database) => database.manyFirst(query, values)),
      maybeOne: (query, values) => use((database) => database.maybeOne(query, values)),
      maybeOneFirst: (query, values) => use((database) => database.maybeOneFirst(query, values)),
      one: (query, values) => use((database) => database.one(query, values)),
      oneFirst: (query, values) => use((database) => database.oneFirst(query, values)),
      query: (query, values) => use((database) => database.query(query, values)),
      record: (query, values) => use((database) => database.record(query, values)),
      stream: (query, handler) => use((database) => database.stream(query, handler)),
      transaction: (handler, retries) => use((database) => database.transaction(handler, retries)),
    };
  }

  async #wait(company: string, caller: Caller | undefined): Promise<() => void> {
    try {
      return await this.#turns.take(company, waitSignal(WAIT_MS, caller));
    } catch (cause) {
      caller?.signal.throwIfAborted();
      throw this.#turns.isAtLimit(company) ? tooManyOfCompany(cause) : tooMany(cause);
    }
  }
}

/** Aborted when the time is over or the caller has gone. */
export function waitSignal(ms: number, caller: Caller | undefined): AbortSignal {
  const timeout = AbortSignal.timeout(ms);
  return caller === undefined ? timeout : AbortSignal.any([timeout, caller.signal]);
}

/** What a company is told whose own reads and writes of tables keep one another waiting. */
export function tooManyOfCompany(cause: unknown): AppError {
  const message =
    "Your company reads and writes its tables too often at a time. Try again shortly.";
  const details = { limit: "tables" };
  return new AppError("RATE_LIMITED", message, { details, retryAfterMs: RETRY_AFTER_MS, cause });
}

function tooMany(cause: unknown): AppError {
  const message = "The service is temporarily unavailable.";
  return new AppError("UNAVAILABLE", message, { retryAfterMs: RETRY_AFTER_MS, cause });
}
