import ipaddr from "ipaddr.js";

/** Where a request comes from, as far as limits are concerned. */
export interface Network {
  /** One IPv4 address, or the /64 of an IPv6 address: a single subscriber has no less. */
  readonly subnet: string;
  /** The /48 of an IPv6 address: a subscriber may have as much. The same as `subnet` for IPv4. */
  readonly site: string;
}

const SUBNET_BYTES = 8;
const SITE_BYTES = 6;

/**
 * The network of an address (M7). An IPv4 address is the same in its IPv6-mapped form; what is no
 * address is one network for all of its kind.
 */
export function networkOf(ipAddress: string | undefined): Network {
  if (ipAddress === undefined || !ipaddr.isValid(ipAddress)) return alone("unknown");
  // `process` turns ::ffff:a.b.c.d, in whatever spelling, into the IPv4 address.
  const address = ipaddr.process(ipAddress);
  if (address.kind() === "ipv4") return alone(address.toString());
  const bytes = Buffer.from(address.toByteArray());
  return { subnet: prefix(bytes, SUBNET_BYTES), site: prefix(bytes, SITE_BYTES) };
}

function alone(name: string): Network {
  return { subnet: name, site: name };
}

function prefix(bytes: Buffer, length: number): string {
  return `${bytes.toString("hex", 0, length)}/${length * 8}`;
}
