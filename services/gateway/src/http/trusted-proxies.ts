import type { IncomingMessage } from "node:http";
import { toIpAddress } from "@workflow/rpc";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

/**
 * The reverse proxies in front of the gateway: CIDR blocks of their addresses, or their number when
 * only they can reach the gateway.
 */
export type TrustedProxies = number | readonly string[];

/** Decides which X-Forwarded headers are trusted, and how many of their entries. */
export interface ProxyTrust {
  /**
   * Whether X-Forwarded-Host is trusted. Proxies that are given by address are said to remove what
   * a client writes into it; a mere number says nothing of that.
   */
  readonly believesHost: boolean;
  /** Whether an address is a proxy's, whose connections carry many clients. */
  isProxy(peer: string | undefined): boolean;
  /**
   * The number of entries at the end of the X-Forwarded headers that trusted proxies wrote; 0 when
   * the client called directly. Each proxy appends the address that called it, so the client's
   * address is that many from the end. Entries before it may be made up.
   */
  entriesOf(request: IncomingMessage): number;
}

/** The number of addresses whose check is cached. */
const ADDRESSES_MAX = 10_000;

/** @see ProxyTrust */
export function createProxyTrust(proxies: TrustedProxies): ProxyTrust {
  if (typeof proxies === "number") {
    return { believesHost: false, isProxy: () => proxies > 0, entriesOf: () => proxies };
  }
  const isProxy = createMatcher(proxies);
  return {
    believesHost: true,
    isProxy,
    entriesOf({ socket, headers }) {
      if (!isProxy(socket.remoteAddress)) return 0;
      const addresses = forwardedEntries(headers["x-forwarded-for"]);
      let entries = 1;
      while (entries < addresses.length && isProxy(addresses.at(-entries))) entries += 1;
      return entries;
    },
  };
}

/** The entries of an X-Forwarded header, the nearest proxy's last; none when it was not sent. */
export function forwardedEntries(header: string | string[] | undefined): string[] {
  if (header === undefined) return [];
  return (Array.isArray(header) ? header.join(",") : header).split(",");
}

function createMatcher(networks: readonly string[]): (address: string | undefined) => boolean {
  const blocks = networks.map((network) =>
    ipaddr.parseCIDR(network.includes("/") ? network : whole(network)),
  );
  // Requests come from few peers, and parsing an address is the expensive part.
  const known = new LRUCache<string, boolean>({ max: ADDRESSES_MAX });
  return (address) => {
    if (address === undefined) return false;
    const remembered = known.get(address);
    if (remembered !== undefined) return remembered;
    const ip = toIpAddress(address);
    const isWithin =
      ip !== undefined && blocks.some((block) => contains(block, ipaddr.process(ip)));
    known.set(address, isWithin);
    return isWithin;
  };
}

/** The CIDR block of a single address. */
function whole(address: string): string {
  return `${address}/${address.includes(":") ? 128 : 32}`;
}

function contains(
  [network, bits]: ReturnType<typeof ipaddr.parseCIDR>,
  address: ipaddr.IPv4 | ipaddr.IPv6,
): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}
