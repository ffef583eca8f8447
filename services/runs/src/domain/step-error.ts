import type { FailureCode } from "@workflow/errors";

/** Long enough for an approval's comment with a few words around it. */
const MESSAGE_CHARS_MAX = 5_000;

/** A text or value from outside. Only its beginning is recorded, after secrets were removed (D19). */
export class Excerpt {
  /** Text, or JSON. */
  readonly whole: unknown;
  readonly charsMax: number;
  /** Whether it may have been cut already, so that it may end in a part of a secret. */
  readonly mayBeCut: boolean;

  constructor(whole: unknown, charsMax: number, { mayBeCut = false } = {}) {
    this.whole = whole;
    this.charsMax = charsMax;
    this.mayBeCut = mayBeCut;
  }
}

/** A code from another service or a record, which may be of another version with codes of its own. */
export interface ToldCode {
  told: string;
}

/** How a step failed, and what may be done about it. */
export interface StepErrorOptions {
  /** Excerpts are resolved when the error is recorded. */
  details?: Record<string, unknown>;
  /** How much of the message is recorded. The message itself must be given whole. */
  messageCharsMax?: number;
  /** Whether another attempt could end differently; true by default. */
  retryable?: boolean;
  /**
   * Whether the receiver surely answered this attempt. Then the next attempt is a new request and may
   * carry a new idempotency key.
   */
  answered?: boolean;
  /** The pause before the next attempt that the receiver asked for, in milliseconds. */
  retryAfterMs?: number;
  /** What templates see as the step's output nevertheless, when the run goes on. */
  output?: unknown;
}

/**
 * The failure of a step. It is expected and recorded in the step's result; it is no fault of the service.
 */
export class StepError extends Error {
  override readonly name = "StepError";
  readonly code: string;
  readonly details: Record<string, unknown> | undefined;
  readonly messageCharsMax: number;
  readonly retryable: boolean;
  readonly answered: boolean;
  readonly retryAfterMs: number | undefined;
  readonly output: unknown;

  constructor(code: FailureCode | ToldCode, message: string, options: StepErrorOptions = {}) {
    super(message);
    this.code = typeof code === "string" ? code : code.told;
    this.details = options.details;
    this.messageCharsMax = options.messageCharsMax ?? MESSAGE_CHARS_MAX;
    this.retryable = options.retryable ?? true;
    this.answered = options.answered ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.output = options.output ?? null;
  }
}
