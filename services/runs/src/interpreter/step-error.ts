import type { ExecutionError } from "../domain/execution-error.ts";

/** How a step failed and what may be done about it. */
export interface StepErrorOptions {
  details?: Record<string, unknown>;
  /** Whether another attempt could end differently; true unless said otherwise. */
  retryable?: boolean;
  /**
   * Whether the receiver surely answered this attempt, so that the next one is a new request and may
   * carry a new idempotency key.
   */
  answered?: boolean;
  /** The receiver asked for this pause before the next attempt, in milliseconds. */
  retryAfterMs?: number;
  /** What templates see as the step's output all the same, when the run goes on. */
  output?: unknown;
}

/** The failure of a step: expected, recorded in its result, never a fault of ours. */
export class StepError extends Error {
  override readonly name = "StepError";
  readonly code: string;
  readonly details: Record<string, unknown> | undefined;
  readonly retryable: boolean;
  readonly answered: boolean;
  readonly retryAfterMs: number | undefined;
  readonly output: unknown;

  constructor(code: string, message: string, options: StepErrorOptions = {}) {
    super(message);
    this.code = code;
    this.details = options.details;
    this.retryable = options.retryable ?? true;
    this.answered = options.answered ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.output = options.output ?? null;
  }

  /** The form that is stored and shown. */
  toRecord(): ExecutionError {
    return {
      code: this.code,
      message: this.message,
      ...(this.details === undefined ? {} : { details: this.details }),
    };
  }
}
