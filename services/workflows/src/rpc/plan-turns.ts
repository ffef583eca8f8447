import { Shares, Turns } from "@workflow/async";
import { AppError } from "@workflow/errors";

/**
 * The number of plans that one process makes at a time. Each keeps a thread and some MiB for tens
 * of milliseconds.
 */
const AT_A_TIME = 2;
const EACH = 1;
/** The number of one company's plans, running or waiting, each with an input of up to 1 MiB. */
const COMPANY_MAX = 32;
const RETRY_AFTER_MS = 1_000;

/** Makes companies take turns with their plans (D57), one of each company at a time. */
export class PlanTurns {
  readonly #turns = new Turns({ perTenant: EACH, total: AT_A_TIME });
  readonly #requests = new Shares({ perTenant: COMPANY_MAX, total: Infinity });

  /**
   * Makes a plan when it is the company's turn.
   *
   * @throws AppError RATE_LIMITED when too many of the company wait; the signal's reason when it
   * was aborted first
   */
  async run<Result>(
    companyId: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const leave = this.#requests.take(companyId);
    if (leave === null) throw tooManyPlans();
    try {
      const end = await this.#turns.take(companyId, signal);
      try {
        return await work();
      } finally {
        end();
      }
    } finally {
      leave();
    }
  }
}

function tooManyPlans(): AppError {
  return new AppError("RATE_LIMITED", "The company asks for too many plans at a time.", {
    details: { limit: "plans" },
    retryAfterMs: RETRY_AFTER_MS,
  });
}
