import { isIP } from "node:net";

import ipaddr from "ipaddr.js";

import { KNOWN_NAT64_PREFIXES, findEmbedded } from "./nat64.ts";
import type { Nat64Prefix } from "./nat64.ts";

/** RFC 4291, section 2.4: everything that is assigned as global unicast today lies in here. */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** In a public range, yet served by Azure's own host to each of its machines (WireServer). */
const AZURE_WIRE_SERVER = "168.63.129.16";

/**
 * Whether an address belongs to the public internet. An allow-list: a range that is unknown,
 * reserved, for documentation, or that wraps another address (mapped, compatible, 6to4, Teredo) is
 * not public. The one kind of wrapper judged by its content is NAT64, because that is what every
 * IPv4-only host looks like on an IPv6-only network with DNS64.
 *
 * @param address in text form as resolvers give it; anything else is not public
 * @param nat64Prefixes the network's own, besides the known ones; they may lie in public ranges
 */
export function isPublicAddress(
  address: string,
  nat64Prefixes: readonly Nat64Prefix[] = [],
): boolean {
  // ipaddr.js also reads octal, hexadecimal and shortened IPv4; a socket may read those differently.
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  return parsed.kind() === "ipv4" ? isPublicV4(parsed) : isPublicV6(parsed, nat64Prefixes);
}

function isPublicV4(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.range() === "unicast" && address.toString() !== AZURE_WIRE_SERVER;
}

function isPublicV6(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  nat64Prefixes: readonly Nat64Prefix[],
): boolean {
  const bytes = address.toByteArray();
  const embedded = [...KNOWN_NAT64_PREFIXES, ...nat64Prefixes]
    .map((prefix) => findEmbedded(bytes, prefix))
    .filter((found) => found !== undefined);
  if (embedded.length > 0) {
    // One prefix may lie within another: the gateway may read the address in any of these ways.
    return embedded.every((found) => found !== null && isPublicV4(ipaddr.fromByteArray(found)));
  }
  return address.range() === "unicast" && address.match(GLOBAL_UNICAST_V6);
}
