import { wrongField } from "./wrong-field.ts";

const HEADERS_MAX = 20;
/** Characters of all names and values together. */
const CHARS_MAX = 4_096;
/** A token (RFC 9110, section 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Visible ASCII with spaces inside, which every server reads alike (RFC 9110, section 5.5). */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Headers that a delivery sets itself (D50), and headers about the connection. */
const RESERVED = new Set([
  "connection",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const RESERVED_BEGINNINGS = ["content-", "proxy-", "webhook-", "x-webhook-"];

/**
 * Checks the custom headers of an endpoint.
 *
 * @throws AppError BAD_REQUEST that names the header, but never its value, which may be a credential
 */
export function checkHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(headers);
  if (entries.length > HEADERS_MAX) {
    throw wrongField("headers", `must have at most ${HEADERS_MAX} members`);
  }
  const chars = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (chars > CHARS_MAX) {
    throw wrongField(
      "headers",
      `must have at most ${CHARS_MAX} characters, names and values together`,
    );
  }
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    if (!TOKEN.test(name)) {
      throw wrongField("headers", "must have names of letters, digits and -_.!#$%&'*+^`|~ only");
    }
    const key = name.toLowerCase();
    if (isReserved(key)) throw wrongField(["headers", name], "is set by the delivery itself");
    if (seen.has(key)) throw wrongField(["headers", name], "is given twice, in different cases");
    seen.add(key);
    if (!VALUE.test(value)) {
      throw wrongField(
        ["headers", name],
        "must be visible ASCII characters, without spaces around",
      );
    }
  }
  return headers;
}

function isReserved(key: string): boolean {
  return RESERVED.has(key) || RESERVED_BEGINNINGS.some((beginning) => key.startsWith(beginning));
}
