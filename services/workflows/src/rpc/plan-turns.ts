import { AppError } from "@workflow/errors";
import { Turns } from "@workflow/service";

/** Plans that one process makes at a time: each keeps its thread and some MiB for tens of milliseconds. */
const AT_A_TIME = 2;
const EACH = 1;
/** Those of one company that are made or wait, each with an input of up to a MiB. */
const COMPANY_MAX = 32;
const RETRY_AFTER_MS = 1_000;

/** Lets the plans of companies be made by turns (D57), one of each company at a time. */
export class PlanTurns {
  readonly #turns = new Turns({ perTenant: EACH, total: AT_A_TIME });
  readonly #requests = new Map<string, number>();

  /**
   * Makes a plan when it is the company's turn.
   *
   * @throws AppError RATE_LIMITED when too many of the company wait; the signal's reason when it was
   * aborted first
   */
  async run<Result>(
    companyId: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    this.#enter(companyId);
    try {
      const end = await this.#turns.take(companyId, signal);
      try {
        return await work();
      } finally {
        end();
      }
    } finally {
      this.#leave(companyId);
    }
  }

  #enter(companyId: string): void {
    const requests = this.#requests.get(companyId) ?? 0;
    if (requests >= COMPANY_MAX) {
      throw new AppError("RATE_LIMITED", "The company asks for too many plans at a time.", {
        details: { limit: "plans" },
        retryAfterMs: RETRY_AFTER_MS,
      });
    }
    this.#requests.set(companyId, requests + 1);
  }

  #leave(companyId: string): void {
    const left = (this.#requests.get(companyId) ?? 1) - 1;
    if (left === 0) this.#requests.delete(companyId);
    else this.#requests.set(companyId, left);
  }
}
