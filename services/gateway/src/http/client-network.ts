import ipaddr from "ipaddr.js";

const V6_NETWORK_BYTES = 8;

/**
 * What limits for one client count by: an IPv4 address, or the /64 network of an IPv6 one, as that is
 * what a single customer of a provider gets. Addresses that cannot be read share one name.
 */
export function clientNetworkOf(ipAddress: string | undefined): string {
  if (ipAddress === undefined || !ipaddr.isValid(ipAddress)) return "unknown";
  const address = ipaddr.process(ipAddress);
  if (address.kind() === "ipv4") return address.toString();
  return `${Buffer.from(address.toByteArray().slice(0, V6_NETWORK_BYTES)).toString("hex")}/64`;
}
