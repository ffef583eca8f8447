import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";

/**
 * Whether a request has come by https, here or to the outermost of the proxies in front.
 *
 * @param trustedProxies reverse proxies in front of the gateway; without any X-Forwarded-Proto is
 *   something that the client has made up
 */
export function isSecureRequest(request: IncomingMessage, trustedProxies: number): boolean {
  if (request.socket instanceof TLSSocket) return true;
  const header = request.headers["x-forwarded-proto"];
  if (trustedProxies === 0 || header === undefined) return false;
  const schemes = (Array.isArray(header) ? header.join(",") : header).split(",");
  return schemes.at(-Math.min(trustedProxies, schemes.length))?.trim().toLowerCase() === "https";
}

/**
 * Whether a browser sends a request for a page of the gateway itself. `Origin` cannot be set by the
 * page; it is compared as a whole, with scheme and port
 * (https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html).
 */
export function hasOwnOrigin(request: IncomingMessage, isSecure: boolean): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined || host === undefined) return false;
  const own = `${isSecure ? "https" : "http"}://${host}`;
  return URL.canParse(own) && new URL(own).origin === origin;
}
