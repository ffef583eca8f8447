import ipaddr from "ipaddr.js";
import { setting } from "@workflow/service/setting-types";

/** Networks that operators may name instead of listing them. Express knows the same names. */
const NAMED_NETWORKS: ReadonlyMap<string, readonly string[]> = new Map([
  ["loopback", ["127.0.0.0/8", "::1/128"]],
  ["linklocal", ["169.254.0.0/16", "fe80::/10"]],
  ["uniquelocal", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]],
]);

const PROXIES_MAX = 10;
const MAPPED_BITS = 96;

/**
 * Reverse proxies whose forwarding headers are trusted: their number, or their networks as CIDR blocks.
 */
export function trustedProxies() {
  return setting(
    `a number from 0 to ${PROXIES_MAX}, or addresses, CIDR blocks longer than /0 and the names ${[...NAMED_NETWORKS.keys()].join(", ")}, separated by commas`,
    (value): number | readonly string[] | undefined => {
      if (/^\d+$/.test(value)) return Number(value) <= PROXIES_MAX ? Number(value) : undefined;
      const networks = value.split(",").map((item) => readNetworks(item.trim().toLowerCase()));
      return networks.every((blocks) => blocks !== undefined) ? networks.flat() : undefined;
    },
  );
}

function readNetworks(text: string): readonly string[] | undefined {
  const named = NAMED_NETWORKS.get(text);
  if (named !== undefined) return named;
  const block = text.includes("/") ? text : `${text}/${text.includes(":") ? 128 : 32}`;
  if (!ipaddr.isValidCIDR(block)) return undefined;
  const [address, bits] = ipaddr.parseCIDR(block);
  if (bits === 0) return undefined;
  if (!(address instanceof ipaddr.IPv6) || !address.isIPv4MappedAddress()) {
    return [`${address.toString()}/${bits}`];
  }
  // Peers are compared as IPv4, in whatever form a socket has them.
  if (bits <= MAPPED_BITS) return undefined;
  return [`${address.toIPv4Address().toString()}/${bits - MAPPED_BITS}`];
}

/** Origins of web pages, separated by commas, each exactly as browsers send it. */
export function origins() {
  return setting(
    "origins such as https://app.example.com, separated by commas, without a path, a slash at the end or *",
    (value) => {
      const items = value.split(",").map((item) => item.trim());
      return items.every(isOrigin) ? items : undefined;
    },
  );
}

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
