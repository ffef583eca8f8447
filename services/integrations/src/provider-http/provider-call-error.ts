import { HttpClientError } from "@workflow/http-client";
import type { HttpClientErrorCode } from "@workflow/http-client";

/** The codes of the HTTP client, and INVALID_ANSWER for an answer of good status whose body is not JSON. */
export type ProviderCallErrorCode = HttpClientErrorCode | "INVALID_ANSWER";

/**
 * A provider gave no readable answer. An answer with an error is no such error: `findFailure` of the
 * catalog reads it. The message is public and contains no credential, path or body.
 */
export class ProviderCallError extends Error {
  override readonly name = "ProviderCallError";
  readonly code: ProviderCallErrorCode;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Whether the provider may have seen the request. */
  readonly sent: boolean;
  /** The status of the answer; null without an answer. */
  readonly status: number | null;

  constructor(
    code: ProviderCallErrorCode,
    message: string,
    options: { sent: boolean; status?: number; cause?: unknown },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = !FINAL_CODES.has(code);
    this.sent = options.sent;
    this.status = options.status ?? null;
  }
}

/** Errors that would occur again at any time. */
const FINAL_CODES: ReadonlySet<ProviderCallErrorCode> = new Set([
  "INVALID_URL",
  "INVALID_REQUEST",
  "ADDRESS_NOT_ALLOWED",
  "RESPONSE_TOO_LARGE",
  "TOO_MANY_REDIRECTS",
  "REDIRECT_REFUSED",
  "INVALID_ANSWER",
]);

/** Turns the HTTP client's error into a ProviderCallError; other errors stay as they are. */
export function toProviderCallError(error: unknown): unknown {
  if (!(error instanceof HttpClientError)) return error;
  return new ProviderCallError(error.code, error.message, { sent: error.sent, cause: error });
}
