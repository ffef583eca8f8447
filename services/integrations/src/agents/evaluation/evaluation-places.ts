import { AppError } from "@workflow/errors";

/** Evaluations of all companies at a time in one process: each may hold some 20 MiB. */
const EVALUATIONS_MAX = 16;
const TIMEOUT_MS = 300_000;
const RETRY_AFTER_MS = 5_000;

/** Bounds the evaluations under way: one of a company, so that others get their turn at providers. */
export class EvaluationPlaces {
  /** Of one evaluation. */
  readonly timeoutMs: number;
  readonly #companies = new Set<string>();

  constructor(timeoutMs = TIMEOUT_MS) {
    this.timeoutMs = timeoutMs;
  }

  /**
   * Takes the company's place.
   *
   * @returns gives it back
   * @throws AppError RATE_LIMITED with details {limit: "evaluations"} when the company has one under way,
   *   UNAVAILABLE when too many others have
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
