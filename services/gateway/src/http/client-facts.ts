import type { IncomingMessage } from "node:http";
import { toIpAddress, toUserAgent } from "@workflow/rpc";
import type { ClientFacts } from "@workflow/rpc";

/**
 * Who sends a request, as far as the connection and its headers tell.
 *
 * @param trustedProxies reverse proxies in front of the gateway. Each appends the address that it was
 *   called from to X-Forwarded-For, so the client's is that many from the end; what stands before it
 *   the client may have made up.
 */
export function clientFactsOf(request: IncomingMessage, trustedProxies: number): ClientFacts {
  return {
    ipAddress: forwardedFor(request, trustedProxies) ?? toIpAddress(request.socket.remoteAddress),
    userAgent: toUserAgent(request.headers["user-agent"]),
  };
}

function forwardedFor(request: IncomingMessage, trustedProxies: number): string | undefined {
  const header = request.headers["x-forwarded-for"];
  if (trustedProxies === 0 || header === undefined) return undefined;
  const addresses = (Array.isArray(header) ? header.join(",") : header).split(",");
  // A request with fewer addresses has come by a shorter way.
  return toIpAddress(addresses.at(-Math.min(trustedProxies, addresses.length)));
}
