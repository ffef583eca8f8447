import { isIPv4, isIPv6 } from "node:net";
import { domainToASCII } from "node:url";
import { isTokenIssuer, readSigningKey, readVerificationKey, TOKEN_ISSUERS } from "@workflow/rpc";
import type { IssuerKeys, TokenIssuer } from "@workflow/rpc";
import { z } from "zod";

/**
 * A kind of setting. It parses a text into a narrow type; the message of a failed check completes the
 * sentence "expected …".
 */
export function setting<T>(expected: string, read: (text: string) => T | undefined) {
  return z.string(`expected ${expected}`).transform((text, context): T => {
    const value = read(text.trim());
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: `expected ${expected}` });
    return z.NEVER;
  });
}

/** Any text that is not empty. */
export function text(expected = "a text") {
  return setting(expected, (value) => (value === "" ? undefined : value));
}

/** The name of a pool of workers. */
export function poolName() {
  return setting("lower-case letters, digits and dashes, 40 at most, a letter first", (value) =>
    /^[a-z][a-z0-9-]{0,39}$/.test(value) ? value : undefined,
  );
}

/** A whole number within bounds, both included. */
export function wholeNumber(min: number, max: number) {
  return setting(`a whole number from ${min} to ${max}`, (value) => {
    const number = /^\d{1,12}$/.test(value) ? Number(value) : NaN;
    return number >= min && number <= max ? number : undefined;
  });
}

/** A share, as a decimal number from 0 to 1. */
export function share() {
  return setting("a number from 0 to 1", (value) => {
    const number = /^(\d+(\.\d*)?|\.\d+)$/.test(value) ? Number(value) : NaN;
    return number >= 0 && number <= 1 ? number : undefined;
  });
}

/** Names and values of HTTP headers in the form of OTEL_EXPORTER_OTLP_HEADERS: values are percent-encoded. */
export function headerPairs() {
  return setting("name=value, separated by commas", (value) => {
    const pairs = value.split(",").map((pair) => /^\s*([\w-]+)\s*=([^=].*)$/.exec(pair));
    if (!pairs.every((pair) => pair !== null)) return undefined;
    try {
      return Object.fromEntries(
        pairs.map(([, name = "", text = ""]) => [name, decodeURIComponent(text.trim())]),
      );
    } catch {
      return undefined;
    }
  });
}

/** A TCP port. */
export function port() {
  return wholeNumber(1, 65_535);
}

const BOOLEANS = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

export function flag() {
  return setting("true or false (or 1, 0)", (value) => BOOLEANS.get(value.toLowerCase()));
}

/** One of a few words or numbers. */
export function oneOf<const Word extends string | number>(words: readonly Word[]) {
  return setting(`one of ${words.join(", ")}`, (value) =>
    words.find((word) => String(word) === value),
  );
}

/** A URL with one of the protocols, as text without a trailing slash. */
export function url(...protocols: readonly string[]) {
  return setting(
    `a URL that begins with ${protocols.map((p) => `${p}://`).join(" or ")}`,
    (value) =>
      URL.canParse(value) && protocols.includes(new URL(value).protocol.slice(0, -1))
        ? value.replace(/\/+$/, "")
        : undefined,
  );
}

/** The address where a gRPC server listens, or where clients find it; only clients may have a list. */
export function grpcAddress() {
  return setting(
    "host:port, unix:/path or IPv4 addresses with ports, separated by commas",
    (value) => {
      if (/^(unix:\/.+|(\[[0-9a-f:.]+\]|[^\s:/,]+):\d{1,5})$/i.test(value)) return value;
      const items = value.split(",").map((item) => item.trim());
      return items.every(isIPv4WithPort) ? items.join(",") : undefined;
    },
  );
}

function isIPv4WithPort(text: string): boolean {
  const [, host = "", port = ""] = /^([\d.]+):(\d{1,5})$/.exec(text) ?? [];
  return isIPv4(host) && Number(port) <= 65_535;
}

/** The address where an HTTP server listens, or where clients find it; only clients may have a list. */
export function hostAndPort() {
  return setting("host:port, or several separated by commas", (value) => {
    const items = value.split(",").map((item) => item.trim());
    const isRight = items.every((item) => /^(\[[0-9a-f:.]+\]|[^\s:/]+):\d{1,5}$/i.test(item));
    return isRight ? items.join(",") : undefined;
  });
}

/** A list of durations in milliseconds, separated by commas. */
export function millisecondsList() {
  return setting("whole numbers of milliseconds, separated by commas", (value) => {
    const items = value.split(",").map((item) => item.trim());
    return items.every((item) => /^\d{1,10}$/.test(item)) ? items.map(Number) : undefined;
  });
}

/** Name servers, separated by commas. */
export function nameServers() {
  return setting(
    "addresses of name servers, with or without a port, separated by commas",
    (value) => {
      const servers = value.split(",").map((item) => item.trim());
      return servers.every(isNameServer) ? servers : undefined;
    },
  );
}

function isNameServer(text: string): boolean {
  const [, bracketed, plain, port = "53"] = /^(?:\[(.+)\]|([\d.]+))(?::(\d+))?$/.exec(text) ?? [];
  const isAddress = isIPv6(bracketed ?? text) || isIPv4(plain ?? "");
  return isAddress && Number(port) >= 1 && Number(port) <= 65_535;
}

/** IPv6 prefixes with a length of NAT64 (RFC 6052), separated by commas. */
export function nat64Prefixes() {
  return setting(
    "IPv6 prefixes of length 32, 40, 48, 56, 64 or 96, separated by commas",
    (value) => {
      const prefixes = value.split(",").map((item) => item.trim());
      const isPrefix = (text: string): boolean =>
        /^[^/]+\/(?:32|40|48|56|64|96)$/.test(text) && isIPv6(text.slice(0, text.indexOf("/")));
      return prefixes.every(isPrefix) ? prefixes : undefined;
    },
  );
}

/** Domains of e-mail addresses, separated by commas, in lower-case ASCII. */
export function mailDomains() {
  return setting("domains such as example.com, separated by commas", (value) => {
    const domains = value.split(",").map((item) => domainToASCII(item.trim()));
    return domains.every((domain) => MAIL_DOMAIN.test(domain)) ? domains : undefined;
  });
}

const MAIL_DOMAIN = /^(?!-)[a-z\d-]{1,63}(?<!-)(?:\.(?!-)[a-z\d-]{1,63}(?<!-))*$/;

/** Keys of an exact length in base64 (or base64url), separated by commas. */
export function base64Keys(byteLength: number) {
  return setting(`keys of ${byteLength} bytes in base64, separated by commas`, (value) => {
    const keys = value.split(",").map((item) => readBase64(item.trim(), byteLength));
    return keys.every((key) => key !== undefined) ? keys : undefined;
  });
}

/** Buffer.from skips characters that are not base64, so a mistyped key would become another key. */
function readBase64(text: string, byteLength: number): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  const canonical = text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  const isExact = bytes.toString("base64").replace(/=+$/, "") === canonical;
  return isExact && bytes.length === byteLength ? bytes : undefined;
}

/** An Ed25519 private key in PEM, or the base64 of its PEM for tools that lose line breaks. */
export function signingKey() {
  return setting("an Ed25519 private key in PEM, or its PEM in base64", (value) => {
    const pem = readPem(value);
    return pem !== undefined && isKey(readSigningKey, pem) ? pem : undefined;
  });
}

/**
 * Public keys of the issuers of tokens: `issuer=key` with the key's PEM in base64, separated by commas.
 */
export function issuerKeys() {
  const issuers = TOKEN_ISSUERS.join(", ");
  const expected = `issuer=key pairs separated by commas: issuers are ${issuers}, keys Ed25519 public keys in PEM as base64`;
  return setting(expected, (value): IssuerKeys | undefined => {
    const keys: Partial<Record<TokenIssuer, string[]>> = {};
    for (const item of value.split(",")) {
      const [, issuer, text = ""] = /^\s*(\w+)\s*=(.*)$/s.exec(item) ?? [];
      const pem = readPem(text.trim());
      if (!isTokenIssuer(issuer) || pem === undefined || !isPublicKey(pem)) return undefined;
      (keys[issuer] ??= []).push(pem);
    }
    return keys;
  });
}

/** A private key would work, but processes that only verify tokens must not have one. */
function isPublicKey(pem: string): boolean {
  return !pem.includes("PRIVATE") && isKey(readVerificationKey, pem);
}

function isKey(read: (pem: string) => unknown, pem: string): boolean {
  try {
    read(pem);
    return true;
  } catch {
    return false;
  }
}

function readPem(value: string): string | undefined {
  const pem = value.startsWith("-----") ? value : Buffer.from(value, "base64").toString("utf8");
  return /^-----BEGIN [A-Z ]*KEY-----/.test(pem) ? pem : undefined;
}
