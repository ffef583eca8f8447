import type { IncomingMessage } from "node:http";
import { toIpAddress, toUserAgent } from "@workflow/rpc";
import type { ClientFacts } from "@workflow/rpc";
import { forwardedEntries } from "./trusted-proxies.ts";

/**
 * The sender of a request, as far as the connection and its headers tell.
 *
 * @param entries of X-Forwarded-For that trusted proxies have written, see `ProxyTrust`
 */
export function clientFactsOf(request: IncomingMessage, entries: number): ClientFacts {
  return {
    ipAddress: forwardedFor(request, entries) ?? toIpAddress(request.socket.remoteAddress),
    userAgent: toUserAgent(request.headers["user-agent"]),
  };
}

function forwardedFor({ headers }: IncomingMessage, entries: number): string | undefined {
  if (entries === 0) return undefined;
  const addresses = forwardedEntries(headers["x-forwarded-for"]);
  // A request with fewer entries did not pass all proxies.
  return toIpAddress(addresses.at(-Math.min(entries, addresses.length)));
}
