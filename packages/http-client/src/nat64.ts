import { isIPv6 } from "node:net";

import ipaddr from "ipaddr.js";

/** Addresses behind which a NAT64 gateway connects to an IPv4 address that they contain. */
export interface Nat64Prefix {
  bytes: readonly number[];
  length: number;
}

/** The places of the four bytes for each prefix length (RFC 6052, section 2.2); byte 8 is left out. */
const POSITIONS = new Map<number, readonly [number, number, number, number]>([
  [32, [4, 5, 6, 7]],
  [40, [5, 6, 7, 9]],
  [48, [6, 7, 9, 10]],
  [56, [7, 9, 10, 11]],
  [64, [9, 10, 11, 12]],
  [96, [12, 13, 14, 15]],
]);

/** The well-known prefix (RFC 6052) and the prefix for use within a network (RFC 8215). */
export const KNOWN_NAT64_PREFIXES: readonly Nat64Prefix[] = ["64:ff9b::/96", "64:ff9b:1::/48"].map(
  parseNat64Prefix,
);

/**
 * Parses `prefix/length` with a length of RFC 6052.
 *
 * @throws RangeError for other texts
 */
export function parseNat64Prefix(text: string): Nat64Prefix {
  const [address = "", length = "", ...more] = text.split("/");
  if (
    more.length > 0 ||
    !isIPv6(address) ||
    !/^\d+$/.test(length) ||
    !POSITIONS.has(Number(length))
  ) {
    throw new RangeError(`${text} is not a NAT64 prefix.`);
  }
  return { bytes: ipaddr.parse(address).toByteArray(), length: Number(length) };
}

/**
 * Extracts the IPv4 address from an IPv6 address under a prefix. Undefined when the address is not under the
 * prefix. Null when bits are set that must be zero, since gateways then differ.
 */
export function findEmbedded(
  address: readonly number[],
  { bytes, length }: Nat64Prefix,
): number[] | null | undefined {
  const octets = length / 8;
  if (!bytes.slice(0, octets).every((byte, index) => byte === address[index])) return undefined;
  const positions: readonly number[] = POSITIONS.get(length) ?? [];
  const isRest = (index: number): boolean => index >= octets && !positions.includes(index);
  if (address.some((byte, index) => isRest(index) && byte !== 0)) return null;
  return positions.map((position) => address[position] ?? 0);
}
