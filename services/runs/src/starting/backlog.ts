import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { countPending } from "../store/count-pending.ts";

/** The counts of one company. */
interface Tally {
  /** Pending runs at the last count. */
  pending: number;
  /** Runs that this process has admitted since that count began. */
  admitted: number;
  countedAt: number;
  /** How long the last count took, in milliseconds. */
  countMs: number;
  counting: Promise<void> | null;
}

/** The limits of the backlog. */
export interface BacklogOptions {
  database: Database;
  /** Runs of one company that may be pending (`COMPANY_BACKLOG_MAX`). */
  pendingMax: number;
  logger: Logger;
}

const COMPANIES_MAX = 10_000;
/**
 * A count of 200,000 runs takes tens of milliseconds. This is the least pause between two counts of a
 * company.
 */
const COUNT_INTERVAL_MS = 1_000;
/** Counting keeps a connection busy for at most a twentieth of the time, however long it takes. */
const COUNT_SHARE = 1 / 20;
/** After so many starts the pending runs are counted again, even far from the limit. */
const ADMITTED_MAX = 500;
const RETRY_AFTER_MS = 1_000;

/**
 * Keeps each company's pending runs below a limit (D57). Admitting costs no query: runs are counted now
 * and then, and those admitted since are added. Several processes together may exceed the limit by what
 * they admit within a second.
 */
export class Backlog {
  readonly #options: BacklogOptions;
  readonly #tallies = new LRUCache<string, Tally>({ max: COMPANIES_MAX });

  constructor(options: BacklogOptions) {
    this.#options = options;
  }

  /**
   * Admits runs that are about to be stored, all or none.
   *
   * @throws AppError RATE_LIMITED when the company has too many pending runs
   */
  async admit(companyId: string, runs = 1): Promise<void> {
    const tally = this.#tallyOf(companyId);
    if (!this.#hasRoom(tally, runs)) {
      if (isStale(tally)) await this.#count(companyId, tally);
      if (!this.#hasRoom(tally, runs)) throw this.#refusal();
    } else if (tally.admitted >= ADMITTED_MAX && isStale(tally)) {
      this.#countSoon(companyId, tally);
    }
    tally.admitted += runs;
  }

  /** A batch larger than the limit has room when nothing is pending. */
  #hasRoom({ pending, admitted }: Tally, runs: number): boolean {
    const { pendingMax } = this.#options;
    return pending + admitted + Math.min(runs, pendingMax) <= pendingMax;
  }

  #tallyOf(companyId: string): Tally {
    const known = this.#tallies.get(companyId);
    if (known !== undefined) return known;
    const tally: Tally = {
      pending: 0,
      admitted: 0,
      countedAt: -Infinity,
      countMs: 0,
      counting: null,
    };
    this.#tallies.set(companyId, tally);
    this.#countSoon(companyId, tally);
    return tally;
  }

  #countSoon(companyId: string, tally: Tally): void {
    this.#count(companyId, tally).catch((error: unknown) => {
      this.#options.logger.warn({ err: error, companyId }, "could not count pending runs");
    });
  }

  #count(companyId: string, tally: Tally): Promise<void> {
    tally.counting ??= this.#countNow(companyId, tally).finally(() => (tally.counting = null));
    return tally.counting;
  }

  async #countNow(companyId: string, tally: Tally): Promise<void> {
    const { database, pendingMax } = this.#options;
    const before = tally.admitted;
    const begunAt = performance.now();
    tally.pending = await countPending(database, companyId, pendingMax);
    // Runs that were admitted meanwhile may be stored after the count.
    tally.admitted -= before;
    tally.countedAt = performance.now();
    tally.countMs = tally.countedAt - begunAt;
  }

  #refusal(): AppError {
    const message = `The company has ${this.#options.pendingMax} runs that have not begun; try again later.`;
    return new AppError("RATE_LIMITED", message, {
      details: { limit: "backlog" },
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
}

function isStale({ countedAt, countMs }: Tally): boolean {
  const intervalMs = Math.max(COUNT_INTERVAL_MS, countMs / COUNT_SHARE);
  return performance.now() - countedAt >= intervalMs;
}
