import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { publicOriginOf } from "../http/public-origin.ts";
import type { RequestInfo } from "../http/request-info.ts";

/**
 * Headers about one connection (RFC 9110, section 7.6.1), and those that the gateway handles
 * itself.
 */
const LEFT_OUT = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
  "expect",
  // The gateway states the origin of a request; the sender's own statements are removed.
  "forwarded",
  "x-real-ip",
  // Credentials of this API. No sender needs them here, and stored requests must not contain them.
  "cookie",
  "x-api-key",
];

/**
 * Without these headers a body has no end, or the request no meaning, so a sender cannot have them
 * removed.
 */
const NEEDED = new Set(["content-length", "content-type", "host", "transfer-encoding"]);

/**
 * Prepares the headers for the webhooks service: those of the sender, and the true origin of the
 * request.
 *
 * @throws AppError BAD_REQUEST when the Host header names no host
 */
export function prepareHeaders(
  request: IncomingMessage,
  info: RequestInfo,
  publicUrl: string | undefined,
): void {
  const { headers } = request;
  const origin = new URL(publicOriginOf(info, publicUrl));
  separate(request);
  for (const name of connectionOptions(headers)) delete headers[name];
  for (const name of LEFT_OUT) delete headers[name];
  for (const name in headers) if (name.startsWith("x-forwarded-")) delete headers[name];
  if (info.client.ipAddress !== undefined) headers["x-forwarded-for"] = info.client.ipAddress;
  headers["x-forwarded-proto"] = origin.protocol.slice(0, -1);
  headers["x-forwarded-host"] = origin.host;
  headers["x-request-id"] = info.requestId;
  if (info.traceparent === undefined) delete headers["traceparent"];
  else headers["traceparent"] = info.traceparent;
}

/**
 * Repeated headers are passed on repeatedly, so that the service can refuse an ambiguous signature
 * or id.
 */
function separate({ headers, headersDistinct }: IncomingMessage): void {
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    if (values.length > 1 && !NEEDED.has(name) && name !== "connection") headers[name] = values;
  }
}

/** Headers that the sender's Connection header names. */
function connectionOptions({ connection }: IncomingHttpHeaders): string[] {
  if (connection === undefined || /^(?:keep-alive|close)$/i.test(connection)) return [];
  const names = connection.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => !NEEDED.has(name));
}
