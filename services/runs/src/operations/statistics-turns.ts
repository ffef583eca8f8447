import { Turns } from "@workflow/async";
import { AppError } from "@workflow/errors";

/** Statistics that one process reads at a time. Each keeps a core and a connection busy for seconds. */
const AT_A_TIME = 2;
/** At most one per company, so that a company never makes another wait. */
const EACH = 1;
/** Most requests of one company that may wait. */
const WAITING_MAX = 100;
const WAIT_MS = 15_000;
const RETRY_AFTER_MS = 2_000;

/** Lets the statistics of companies be read in turns (D57): two at a time, one of each company. */
export class StatisticsTurns {
  readonly #turns = new Turns({ perTenant: EACH, total: AT_A_TIME });
  readonly #waiting = new Map<string, number>();

  /**
   * Reads when it is the company's turn.
   *
   * @throws AppError RATE_LIMITED when too many of the company's requests wait, UNAVAILABLE when it takes
   * too long
   */
  async read<Result>(
    companyId: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const end = await this.#take(companyId, signal);
    try {
      return await work();
    } finally {
      end();
    }
  }

  async #take(companyId: string, signal: AbortSignal): Promise<() => void> {
    const waiting = this.#waiting.get(companyId) ?? 0;
    if (waiting >= WAITING_MAX) {
      throw new AppError("RATE_LIMITED", "The company reads too many statistics at a time.", {
        details: { limit: "statistics" },
        retryAfterMs: RETRY_AFTER_MS,
      });
    }
    this.#waiting.set(companyId, waiting + 1);
    const late = AbortSignal.timeout(WAIT_MS);
    try {
      return await this.#turns.take(companyId, AbortSignal.any([signal, late]));
    } catch (error) {
      if (!late.aborted) throw error;
      throw new AppError("UNAVAILABLE", "Too many statistics are being read; try again.", {
        retryAfterMs: RETRY_AFTER_MS,
      });
    } finally {
      const left = (this.#waiting.get(companyId) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(companyId);
      else this.#waiting.set(companyId, left);
    }
  }
}
