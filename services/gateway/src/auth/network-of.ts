import ipaddr from "ipaddr.js";

/** The network of a request, as limits see it. */
export interface Network {
  /** One IPv4 address, or the /64 of an IPv6 address, the least that a subscriber has. */
  readonly subnet: string;
  /** The /48 of an IPv6 address, the most that a subscriber has. The same as `subnet` for IPv4. */
  readonly site: string;
}

const SUBNET_BYTES = 8;
const SITE_BYTES = 6;

/**
 * The network of an address. IPv4-mapped IPv6 addresses count as IPv4. Texts that are no address
 * share one network.
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
