import { Turns } from "@workflow/async";
import type { TurnLimits } from "@workflow/async";
import { AppError } from "@workflow/errors";

const WAIT_MS = 10_000;
const RETRY_AFTER_MS = 1_000;

/** Limits the bytes of large answers in memory, by company and in all. */
export class AnswerTurns {
  readonly #turns: Turns;
  readonly #waitMs: number;

  /** @param waitMs the longest wait of an answer for its turn, in milliseconds; 10,000 by default */
  constructor(limits: TurnLimits, waitMs = WAIT_MS) {
    this.#turns = new Turns(limits);
    this.#waitMs = waitMs;
  }

  /**
   * Waits until there is room for so many bytes.
   *
   * @returns releases the bytes; call it once
   * @throws AppError RATE_LIMITED with details {limit: "reading"} when the company's own answers took
   * too long; UNAVAILABLE when others' did; the signal's reason when it was aborted first
   */
  async take(companyId: string, bytes: number, signal?: AbortSignal): Promise<() => void> {
    const late = AbortSignal.timeout(this.#waitMs);
    const given = signal === undefined ? late : AbortSignal.any([signal, late]);
    try {
      return await this.#turns.take(companyId, given, bytes);
    } catch (cause) {
      if (signal?.aborted === true) throw cause;
      throw this.#turns.isAtLimit(companyId, bytes) ? tooManyOfCompany(cause) : tooMany(cause);
    }
  }
}

function tooManyOfCompany(cause: unknown): AppError {
  const message = "Too many large answers to your company are under way. Try again shortly.";
  const details = { limit: "reading" };
  return new AppError("RATE_LIMITED", message, { details, retryAfterMs: RETRY_AFTER_MS, cause });
}

function tooMany(cause: unknown): AppError {
  const message = "Too many large answers are under way. Try again shortly.";
  return new AppError("UNAVAILABLE", message, { retryAfterMs: RETRY_AFTER_MS, cause });
}
