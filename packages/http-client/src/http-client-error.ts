/** The reason why a request has no response. The README explains each code. */
export type HttpClientErrorCode =
  | "INVALID_URL"
  | "INVALID_REQUEST"
  | "ADDRESS_NOT_ALLOWED"
  | "DNS_FAILED"
  | "CONNECT_FAILED"
  | "TLS_FAILED"
  | "TIMEOUT"
  | "ABORTED"
  | "RESPONSE_TOO_LARGE"
  | "TOO_MANY_REDIRECTS"
  | "REDIRECT_REFUSED"
  | "NETWORK";

/**
 * The only error of this package. `message` may be shown to the tenant: it names at most a method, a header's
 * name, a host and a port. `cause` is for the service's own logs.
 */
export class HttpClientError extends Error {
  override readonly name = "HttpClientError";
  readonly code: HttpClientErrorCode;
  /** Whether any byte of the request may have reached a server; false means a retry is safe. */
  readonly sent: boolean;

  constructor(
    code: HttpClientErrorCode,
    message: string,
    options: { sent?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.sent = options.sent ?? false;
  }
}

/** A copy with `sent` as given, for errors that arise before `sent` is known. */
export function withSent(error: HttpClientError, sent: boolean): HttpClientError {
  if (error.sent === sent) return error;
  return new HttpClientError(error.code, error.message, { sent, cause: error.cause });
}
