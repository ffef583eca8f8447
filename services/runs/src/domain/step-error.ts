import type { FailureCode } from "@workflow/errors";

/** An approval's comment with a few words around it fits. */
const MESSAGE_CHARS_MAX = 5_000;

/** Something from outside of which only the beginning is recorded, once no secret is in it (D19). */
export class Excerpt {
  /** Text, or JSON. */
  readonly whole: unknown;
  readonly charsMax: number;
  /** Whether somebody before us may have cut it, so that it may end in a part of a secret. */
  readonly mayBeCut: boolean;

  constructor(whole: unknown, charsMax: number, { mayBeCut = false } = {}) {
    this.whole = whole;
    this.charsMax = charsMax;
    this.mayBeCut = mayBeCut;
  }
}

/** A code that another service or a record tells: it may be of another version, which has codes of its own. */
export interface ToldCode {
  told: string;
}

/** How a step failed and what may be done about it. */
export interface StepErrorOptions {
  /** Excerpts are resolved when the error is recorded. */
  details?: Record<string, unknown>;
  /** How much of the message is recorded: give the whole one and never a part. */
  messageCharsMax?: number;
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
