import ipaddr from "ipaddr.js";

const V6_NETWORK_BYTES = 8;

/**
 * The key of a client's limits: its IPv4 address, or its IPv6 /64 network, which is what one
 * customer of a provider gets. Addresses that cannot be read share one key.
 */
export function clientNetworkOf(ipAddress: string | undefined): string {
  if (ipAddress === undefined || !ipaddr.isValid(ipAddress)) return "unknown";
  const address = ipaddr.process(ipAddress);
  if (address.kind() === "ipv4") return address.toString();
  return `${Buffer.from(address.toByteArray().slice(0, V6_NETWORK_BYTES)).toString("hex")}/64`;
}
