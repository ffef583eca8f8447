import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { forwardedEntries } from "./trusted-proxies.ts";

/** What a client has called: by which scheme, and which host. */
export interface CalledServer {
  readonly isSecure: boolean;
  /** With its port, where one was named. */
  readonly host: string | undefined;
}

/**
 * What the client has called, as the outermost of the trusted proxies tells it, else as the request itself
 * does.
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

/** Without trusted proxies X-Forwarded headers are something that the client has made up. */
function forwarded(header: string | string[] | undefined, entries: number): string | undefined {
  if (entries === 0 || header === undefined) return undefined;
  const texts = forwardedEntries(header);
  const text = texts.at(-Math.min(entries, texts.length))?.trim();
  return text === "" ? undefined : text;
}

/**
 * Whether a browser sends a request for a page of the gateway itself. `Origin` cannot be set by the
 * page; it is compared as a whole, with scheme and port
 * (https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html).
 */
export function hasOwnOrigin(
  { headers: { origin } }: IncomingMessage,
  called: CalledServer,
): boolean {
  return origin !== undefined && ownOriginOf(called) === origin;
}

/** The origin that the client has called; null when it named no host. */
export function ownOriginOf({ isSecure, host }: CalledServer): string | null {
  if (host === undefined) return null;
  const origin = `${isSecure ? "https" : "http"}://${host}`;
  return URL.canParse(origin) ? new URL(origin).origin : null;
}
