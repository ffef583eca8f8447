import { HttpClientError } from "@workflow/http-client";
import type { HttpClientErrorCode } from "@workflow/http-client";

/** Those of the HTTP client; INVALID_ANSWER: an answer of good status whose body is not JSON. */
export type ProviderCallErrorCode = HttpClientErrorCode | "INVALID_ANSWER";

/**
 * A provider gave no answer that can be read. What it says in an answer is no such error:
 * `findFailure` of the catalog reads that. The message is public and holds no credential, path or body.
 */
export class ProviderCallError extends Error {
  override readonly name = "ProviderCallError";
  readonly code: ProviderCallErrorCode;
  /** The same request may end differently later. */
  readonly retryable: boolean;
  /** Whether the provider may have seen the request. */
  readonly sent: boolean;
  /** Of the answer; null when there was none. */
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

/** What would come again, whatever the time. */
const FINAL_CODES: ReadonlySet<ProviderCallErrorCode> = new Set([
  "INVALID_URL",
  "INVALID_REQUEST",
  "ADDRESS_NOT_ALLOWED",
  "RESPONSE_TOO_LARGE",
  "TOO_MANY_REDIRECTS",
  "REDIRECT_REFUSED",
  "INVALID_ANSWER",
]);

/** The HTTP client's error in the words of a provider's caller; anything else stays as it is. */
export function toProviderCallError(error: unknown): unknown {
  if (!(error instanceof HttpClientError)) return error;
  return new ProviderCallError(error.code, error.message, { sent: error.sent, cause: error });
}
