import { HttpClientError, withSent } from "./http-client-error.ts";

/** Node's names for failed certificate checks (OpenSSL's X509_V_ERR_…) and failed handshakes. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|HOSTNAME_MISMATCH)/;

/** The name of errors of undici's parser, which lack a code in some versions. */
const PARSER_ERROR = "HTTPParserError";

/** undici's names for an answer that breaks the protocol. */
const MALFORMED_CODE = /^(HPE_|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)/;

/** The error codes of a connection that the other side has closed or forgotten. */
const BROKEN_CODES: ReadonlySet<string> = new Set([
  "ECONNABORTED",
  "ECONNRESET",
  "EPIPE",
  "UND_ERR_SOCKET",
]);

/** Whether the connection broke, as opposed to a wrong or late answer. */
export function isBrokenConnection(error: unknown): boolean {
  return BROKEN_CODES.has(errorCodeOf(error));
}

/** The `code` that Node, OpenSSL, zlib and undici put on their errors; "unknown" without one. */
export function errorCodeOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "unknown";
  return typeof error.code === "string" ? error.code : "unknown";
}

/** Converts an error of the connection or of undici to the package's error. */
export function toHttpClientError(error: unknown, host: string, sent: boolean): HttpClientError {
  if (error instanceof HttpClientError) return withSent(error, sent);
  const code = errorCodeOf(error);
  const options = { sent, cause: error };
  if (code === "UND_ERR_CLOSED" || code === "UND_ERR_DESTROYED") {
    return new HttpClientError("ABORTED", "The HTTP client is closed.", options);
  }
  if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED") {
    return new HttpClientError("INVALID_REQUEST", "The request is not valid HTTP.", options);
  }
  if (code === "UND_ERR_HEADERS_OVERFLOW") {
    const message = `The response headers of ${host} are too large.`;
    return new HttpClientError("RESPONSE_TOO_LARGE", message, options);
  }
  if (TLS_CODE.test(code)) {
    const message = `No trusted TLS connection to ${host} (${code}).`;
    return new HttpClientError("TLS_FAILED", message, options);
  }
  if (!sent) {
    const why = code === "UND_ERR_CONNECT_TIMEOUT" ? "timeout" : code;
    const message = `Could not connect to ${host} (${why}).`;
    return new HttpClientError("CONNECT_FAILED", message, options);
  }
  return new HttpClientError("NETWORK", describeBreak(error, code, host), options);
}

function describeBreak(error: unknown, code: string, host: string): string {
  const isParserError = error instanceof Error && error.name === PARSER_ERROR;
  if (isParserError) return `The response of ${host} is not valid HTTP.`;
  return MALFORMED_CODE.test(code)
    ? `The response of ${host} is not valid HTTP (${code}).`
    : `The connection to ${host} broke before the response was complete (${code}).`;
}
