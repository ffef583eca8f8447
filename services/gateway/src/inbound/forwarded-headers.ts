import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { publicOriginOf } from "../http/public-origin.ts";
import type { RequestInfo } from "../http/request-info.ts";

/** About one connection (RFC 9110, section 7.6.1), or held against the sender by this gateway itself. */
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
  // Where a request comes from the gateway says, not the sender.
  "forwarded",
  "x-real-ip",
  // Credentials of our own API: no sender needs them here, and what is kept of a request must not hold them.
  "cookie",
  "x-api-key",
];

/** Without these the body has no end, or the request no meaning: a sender does not get to name them. */
const NEEDED = new Set(["content-length", "content-type", "host", "transfer-encoding"]);

/**
 * Makes the headers of a request those that the webhooks service gets: what the sender says, and where the
 * request truly comes from.
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

/** Headers that were sent several times are handed on so: a signature or an id that is not one is told as such. */
function separate({ headers, headersDistinct }: IncomingMessage): void {
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    if (values.length > 1 && !NEEDED.has(name) && name !== "connection") headers[name] = values;
  }
}

/** Headers that the sender says are about its connection. */
function connectionOptions({ connection }: IncomingHttpHeaders): string[] {
  if (connection === undefined || /^(?:keep-alive|close)$/i.test(connection)) return [];
  const names = connection.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => !NEEDED.has(name));
}
