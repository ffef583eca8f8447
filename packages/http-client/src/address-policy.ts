import { isIP } from "node:net";

import ipaddr from "ipaddr.js";

import { KNOWN_NAT64_PREFIXES, findEmbedded } from "./nat64.ts";
import type { Nat64Prefix } from "./nat64.ts";

/** RFC 4291, section 2.4: the range of all global unicast addresses that are assigned today. */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** An address of a public range that Azure's host serves to each of its machines (WireServer). */
const AZURE_WIRE_SERVER = "168.63.129.16";

/**
 * Whether an address belongs to the public internet. The policy is an allow-list. Unknown, reserved and
 * documentation ranges are not public, nor are addresses that wrap another one (mapped, compatible, 6to4,
 * Teredo). NAT64 is the one wrapper whose content is judged: on an IPv6-only network with DNS64 every
 * IPv4-only host has such an address.
 *
 * @param address in text form as resolvers give it; any other text is not public
 * @param nat64Prefixes the network's own prefixes, besides the known ones; they may lie in public ranges
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
    // Prefixes may overlap, and the gateway may read the address in any of these ways.
    return embedded.every((found) => found !== null && isPublicV4(ipaddr.fromByteArray(found)));
  }
  return address.range() === "unicast" && address.match(GLOBAL_UNICAST_V6);
}
