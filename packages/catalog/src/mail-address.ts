import { domainToASCII } from "node:url";

/** One mailbox. */
export interface MailAddress {
  /** The address as written, without the name. */
  address: string;
  /** The address with its domain in ASCII, for sending. */
  wireAddress: string;
  /** The display name; empty when there is none. */
  name: string;
}

const ADDRESS_CHARS_MAX = 500;
const LIST_CHARS_MAX = 100_000;
/** The most octets of the two parts (RFC 5321). */
const LOCAL_PART_BYTES_MAX = 64;
const DOMAIN_CHARS_MAX = 253;

/** A quoted or a plain name before an address in angle brackets. */
const NAMED = /^(?:"((?:[^"\\]|\\.)*)"\s*|([^"<>]*))<([^<>]*)>$/;
/** Dot-separated atoms (RFC 5322), letters of any script included (RFC 6531). */
const LOCAL_PART =
  /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const DOMAIN = /^(?!-)[a-z\d-]{1,63}(?<!-)(?:\.(?!-)[a-z\d-]{1,63}(?<!-))*$/i;

/**
 * Reads exactly one address, `a@b.c` or `Name <a@b.c>`; null for other texts. Stricter than RFC 5322: no
 * lists, groups, comments, quoted local parts or address literals. Parsers disagree on those, and a text must
 * not add a recipient that its reader does not see.
 */
export function parseMailAddress(text: string): MailAddress | null {
  if (text.length > ADDRESS_CHARS_MAX || hasControls(text)) return null;
  const trimmed = text.trim();
  const named = NAMED.exec(trimmed);
  if (named === null) return toAddress(trimmed, "");
  const [, quoted, plain = "", address = ""] = named;
  return toAddress(address.trim(), quoted?.replace(/\\(.)/g, "$1") ?? plain.trim());
}

/** Reads an array of addresses, or a text with commas between them. Null when one entry is no address. */
export function parseMailAddresses(value: unknown): MailAddress[] | null {
  const texts = typeof value === "string" ? splitAddresses(value) : value;
  if (!Array.isArray(texts) || texts.length === 0) return null;
  const addresses = texts.map((text) => (typeof text === "string" ? parseMailAddress(text) : null));
  return addresses.some((address) => address === null)
    ? null
    : addresses.filter((address) => address !== null);
}

/** The address in the form of a header or of a provider's JSON. */
export function formatMailAddress({ name, wireAddress }: MailAddress): string {
  if (name === "") return wireAddress;
  return `"${name.replaceAll(/["\\]/g, "\\$&")}" <${wireAddress}>`;
}

/** Whether a text contains control characters, which could begin another header. */
export function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** Splits at commas outside of quoted names. An unclosed entry fails afterwards, as no address. */
function splitAddresses(text: string): string[] {
  if (text.length > LIST_CHARS_MAX) return [];
  // A quotation mark always begins a quoted part. An unclosed part goes to the end, so no character is
  // scanned twice.
  const entries = text.match(/(?:"(?:[^"\\]|\\[\s\S]?)*(?:"|$)|[^,"])+/g) ?? [];
  return entries.filter((entry) => entry.trim() !== "");
}

function toAddress(address: string, name: string): MailAddress | null {
  const at = address.lastIndexOf("@");
  const localPart = address.slice(0, Math.max(at, 0));
  const domain = domainToASCII(address.slice(at + 1));
  if (!LOCAL_PART.test(localPart) || Buffer.byteLength(localPart) > LOCAL_PART_BYTES_MAX)
    return null;
  if (!DOMAIN.test(domain) || domain.length > DOMAIN_CHARS_MAX) return null;
  return { address, wireAddress: `${localPart}@${domain}`, name };
}
