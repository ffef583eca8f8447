import { AppError } from "@workflow/errors";

/** The number of concurrent evaluations of all companies in one process; each may hold some 20 MiB. */
const EVALUATIONS_MAX = 16;
const TIMEOUT_MS = 300_000;
const RETRY_AFTER_MS = 5_000;

/** Limits concurrent evaluations to one for each company, so that other calls get their turn at providers. */
export class EvaluationPlaces {
  /** The time limit of one evaluation. */
  readonly timeoutMs: number;
  readonly #companies = new Set<string>();

  constructor(timeoutMs = TIMEOUT_MS) {
    this.timeoutMs = timeoutMs;
  }

  /**
   * Acquires the company's place.
   *
   * @returns releases it
   * @throws AppError RATE_LIMITED with details {limit: "evaluations"} when the company's place is
   * taken; UNAVAILABLE when all places of the process are
   */
  take(companyId: string): () => void {
    if (this.#companies.has(companyId)) {
      const message = "An evaluation of your company is under way. Try again when it has ended.";
      const details = { limit: "evaluations" };
      throw new AppError("RATE_LIMITED", message, { details, retryAfterMs: RETRY_AFTER_MS });
    }
    if (this.#companies.size >= EVALUATIONS_MAX) {
      const message = "Too many evaluations are under way. Try again shortly.";
      throw new AppError("UNAVAILABLE", message, { retryAfterMs: RETRY_AFTER_MS });
    }
    this.#companies.add(companyId);
    return () => void this.#companies.delete(companyId);
  }
}
