import type { IncomingMessage } from "node:http";
import { toIpAddress } from "@workflow/rpc";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

/**
 * Reverse proxies in front of the gateway: the networks that they call from, as CIDR blocks; or their
 * number, for a gateway that nobody else can reach.
 */
export type TrustedProxies = number | readonly string[];

/** Tells whose X-Forwarded headers are believed, and how much of them. */
export interface ProxyTrust {
  /**
   * Whether X-Forwarded-Host is believed. Only those whose proxies are known by name have said that
   * these do not let pass what a client makes up.
   */
  readonly believesHost: boolean;
  /** Whether a connection from this address comes from a proxy, and so stands for many clients. */
  isProxy(peer: string | undefined): boolean;
  /**
   * How many entries at the end of the X-Forwarded headers were written by trusted proxies; 0 when the
   * client itself has called. Each proxy appends the address that it was called from, so the client's is that
   * many from the end; what stands before it the client may have made up.
   */
  entriesOf(request: IncomingMessage): number;
}

/** Addresses whose standing is remembered. */
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
  // A request is judged by its peer, and there are few of those: parsing addresses is what costs.
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

/** The block that is one address. */
function whole(address: string): string {
  return `${address}/${address.includes(":") ? 128 : 32}`;
}

function contains(
  [network, bits]: ReturnType<typeof ipaddr.parseCIDR>,
  address: ipaddr.IPv4 | ipaddr.IPv6,
): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}
