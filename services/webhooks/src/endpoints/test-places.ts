import { Shares, Turns } from "@workflow/async";
import { AppError } from "@workflow/errors";

/** The limits of concurrent tests, of one company and of all. */
const UNDER_WAY = { perTenant: 4, total: 32 };
/** The limits of tests that run or wait, of one company and of all. */
const PLACES = { perTenant: UNDER_WAY.perTenant + 20, total: 1_000 };
/** Short, because a person waits for the test. */
const WAIT_MS = 5_000;

/**
 * Runs tests of endpoints in turns between companies (D57), because each may take as long as its
 * receiver likes.
 */
export class TestPlaces {
  readonly #places = new Shares(PLACES);
  readonly #turns = new Turns(UNDER_WAY);

  /**
   * Does the work when the company has its turn.
   *
   * @throws AppError RATE_LIMITED with details {limit: "tests"} when too many wait, or the wait took 5
   * s; the signal's reason when it was aborted first
   */
  async within<Result>(
    companyId: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const leave = this.#places.take(companyId);
    if (leave === null) throw tooMany();
    try {
      const end = await this.#take(companyId, signal);
      try {
        return await work();
      } finally {
        end();
      }
    } finally {
      leave();
    }
  }

  async #take(companyId: string, signal: AbortSignal): Promise<() => void> {
    const patience = AbortSignal.timeout(WAIT_MS);
    try {
      return await this.#turns.take(companyId, AbortSignal.any([signal, patience]));
    } catch (error) {
      throw patience.aborted && !signal.aborted ? tooMany() : error;
    }
  }
}

function tooMany(): AppError {
  return new AppError("RATE_LIMITED", "Too many tests of endpoints are under way.", {
    details: { limit: "tests" },
    retryAfterMs: WAIT_MS,
  });
}
