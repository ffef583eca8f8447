import type { Reason } from "./reasons.ts";

/** One wrong field: where (array indices as decimal strings) and what would be right. */
export interface Violation {
  path: string[];
  message: string;
}

/** Everything about an error beyond its reason and its public message. */
export interface AppErrorOptions {
  /** For our logs only; never leaves the service. */
  internal?: string;
  /** Field violations, sent as `google.rpc.BadRequest` and answered as `details`. */
  violations?: readonly Violation[];
  /** Any JSON value that the contract puts into `error.details`. Excludes violations. */
  details?: unknown;
  /** How long the caller should wait before a retry, in milliseconds. */
  retryAfterMs?: number;
  cause?: unknown;
}

/**
 * The one error type of the system. `message` is public: it is shown to callers as it stands, so it
 * names no internals and holds no secret.
 */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly reason: Reason;
  readonly internal: string | undefined;
  readonly violations: readonly Violation[];
  readonly details: unknown;
  readonly retryAfterMs: number | undefined;

  constructor(reason: Reason, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.internal = options.internal;
    this.violations = options.violations ?? [];
    this.details = options.details;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Tells an AppError from any other thrown value, also across realms and duplicated modules. */
export function isAppError(value: unknown): value is AppError {
  return value instanceof AppError || (value instanceof Error && value.name === "AppError");
}

/** Returns an AppError as it is and wraps anything else as INTERNAL_ERROR with a fixed text. */
export function toAppError(value: unknown): AppError {
  if (isAppError(value)) return value;
  return new AppError("INTERNAL_ERROR", "An internal error occurred.", {
    internal: value instanceof Error ? value.message : String(value),
    cause: value,
  });
}
