import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { forwardedEntries } from "./trusted-proxies.ts";

/** The scheme and the host that a client called. */
export interface CalledServer {
  readonly isSecure: boolean;
  /** With the port, where the client named one. */
  readonly host: string | undefined;
}

/**
 * The address that a client called: from the outermost trusted proxy, else from the request itself.
 *
 * @param entries of X-Forwarded headers that trusted proxies have written, see `ProxyTrust`
 * @param believesHost see `ProxyTrust`
 */
export function calledServerOf(
  { headers, socket }: IncomingMessage,
  entries: number,
  believesHost: boolean,
): CalledServer {
  const scheme = forwarded(headers["x-forwarded-proto"], entries);
  return {
    isSecure: socket instanceof TLSSocket || scheme?.toLowerCase() === "https",
    host: forwarded(headers["x-forwarded-host"], believesHost ? entries : 0) ?? headers.host,
  };
}

/** Without trusted proxies the client itself wrote the X-Forwarded headers. */
function forwarded(header: string | string[] | undefined, entries: number): string | undefined {
  if (entries === 0 || header === undefined) return undefined;
  const texts = forwardedEntries(header);
  const text = texts.at(-Math.min(entries, texts.length))?.trim();
  return text === "" ? undefined : text;
}

/**
 * Whether a browser sent a request for a page of the gateway itself. A page cannot set `Origin`.
 * The whole value is compared, with scheme and port
 * (https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html).
 */
export function hasOwnOrigin(
  { headers: { origin } }: IncomingMessage,
  called: CalledServer,
): boolean {
  return origin !== undefined && ownOriginOf(called) === origin;
}

/** The origin that a client called; null when it named no host. */
export function ownOriginOf({ isSecure, host }: CalledServer): string | null {
  if (host === undefined) return null;
  const origin = `${isSecure ? "https" : "http"}://${host}`;
  return URL.canParse(origin) ? new URL(origin).origin : null;
}
