import { isIP } from "node:net";

import { isPublicAddress } from "./address-policy.ts";
import { HttpClientError } from "./http-client-error.ts";
import type { Nat64Prefix } from "./nat64.ts";

/** The policy for targets of requests. */
export interface TargetPolicy {
  /** Allows http, and hosts with private, loopback or other non-public addresses. */
  allowPrivate: boolean;
  /** The network's own NAT64 prefixes, besides the known ones. */
  nat64Prefixes?: readonly Nat64Prefix[] | undefined;
}

/**
 * Parses the URL of a tenant or a redirect.
 *
 * The WHATWG parser turns every spelling of an IPv4 address (octal, hexadecimal, one number, trailing dot,
 * full-width digits) into four decimals before the host is judged here. Names are judged by their resolved
 * addresses, when connecting.
 *
 * @param base resolves a relative reference, as in a `Location` header
 * @throws HttpClientError INVALID_URL, ADDRESS_NOT_ALLOWED
 */
export function parseTarget(text: string, policy: TargetPolicy, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null)
    throw new HttpClientError("INVALID_URL", "The URL is not a valid absolute URL.");
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new HttpClientError("INVALID_URL", "The URL must begin with https://.");
  }
  if (url.protocol === "http:" && !policy.allowPrivate) {
    throw new HttpClientError(
      "INVALID_URL",
      "The URL must begin with https://; http is not allowed.",
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new HttpClientError("INVALID_URL", "The URL must not contain a user name or password.");
  }
  assertAddressAllowed(hostOf(url), policy);
  url.hash = "";
  return url;
}

/**
 * Refuses a literal address that the policy does not allow. Names pass.
 *
 * @param host without the brackets of an IPv6 address
 * @throws HttpClientError ADDRESS_NOT_ALLOWED
 */
export function assertAddressAllowed(host: string, policy: TargetPolicy): void {
  if (isIP(host) === 0 || isAddressAllowed(host, policy)) return;
  // The caller wrote the address, so the error reveals no more than the URL.
  throw new HttpClientError(
    "ADDRESS_NOT_ALLOWED",
    `The host ${host} is an address outside the public internet, which is not allowed.`,
  );
}

/** Whether the policy allows connections to an address, in text form as resolvers give it. */
export function isAddressAllowed(
  address: string,
  { allowPrivate, nat64Prefixes }: TargetPolicy,
): boolean {
  return allowPrivate || isPublicAddress(address, nat64Prefixes);
}

function hostOf(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
}
