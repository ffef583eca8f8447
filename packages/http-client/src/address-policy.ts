import { isIP } from "node:net";

import ipaddr from "ipaddr.js";

/** RFC 4291, section 2.4: everything that is assigned as global unicast today lies in here. */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** RFC 6052: the last four bytes are the IPv4 address that a NAT64 gateway will connect to. */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/** In a public range, yet served by Azure's own host to each of its machines (WireServer). */
const AZURE_WIRE_SERVER = "168.63.129.16";

/**
 * Whether an address belongs to the public internet. An allow-list: a range that is unknown,
 * reserved, for documentation, or that wraps another address (mapped, compatible, 6to4, Teredo) is
 * not public. The one wrapper judged by its content is NAT64's well-known prefix, because that is
 * what every IPv4-only host looks like on an IPv6-only network with DNS64.
 *
 * @param address in text form as resolvers give it; anything else is not public
 */
export function isPublicAddress(address: string): boolean {
  // ipaddr.js also reads octal, hexadecimal and shortened IPv4; a socket may read those differently.
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  return parsed.kind() === "ipv4" ? isPublicV4(parsed) : isPublicV6(parsed);
}

function isPublicV4(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.range() === "unicast" && address.toString() !== AZURE_WIRE_SERVER;
}

function isPublicV6(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.match(NAT64)) {
    return isPublicV4(ipaddr.fromByteArray(address.toByteArray().slice(-4)));
  }
  return address.range() === "unicast" && address.match(GLOBAL_UNICAST_V6);
}
