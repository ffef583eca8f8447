import { HttpClientError } from "./http-client-error.ts";

/** A header's name as given and its value. */
export type Header = readonly [name: string, value: string];

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** RFC 9110, section 5.5: tab, visible ASCII, space and the upper half of Latin-1. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Headers that frame the message, choose the server or concern the connection. Only this client sets them. A
 * caller who did could smuggle requests, or reach another virtual host than the checked one.
 */
const RESERVED = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Checks the caller's headers and adds defaults for absent ones.
 *
 * @throws HttpClientError INVALID_REQUEST; names a printable header, and never a value
 */
export function prepareHeaders(given: Record<string, string>, userAgent: string): Header[] {
  const headers: Header[] = [];
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(given)) {
    assertHeader(name, value);
    const key = name.toLowerCase();
    if (seen.has(key)) throw invalid(`The header ${name} is given twice.`);
    seen.add(key);
    headers.push([name, value]);
  }
  const defaults: Header[] = [
    ["user-agent", userAgent],
    ["accept", "*/*"],
    ["accept-encoding", "gzip, deflate, br"],
  ];
  return [...headers, ...defaults.filter(([name]) => !seen.has(name))];
}

/** The caller's method in upper case. CONNECT would open a tunnel; TRACE echoes credentials back. */
export function prepareMethod(given: string): string {
  const method = given.toUpperCase();
  if (!TOKEN.test(method)) throw invalid("The method is not a valid HTTP method.");
  if (method === "CONNECT" || method === "TRACE" || method === "TRACK") {
    throw invalid(`The method ${method} is not allowed.`);
  }
  return method;
}

function assertHeader(name: string, value: string): void {
  if (!TOKEN.test(name))
    throw invalid("A header name contains characters that HTTP does not allow.");
  const key = name.toLowerCase();
  if (RESERVED.has(key) || key.startsWith("proxy-")) {
    throw invalid(`The header ${name} must not be set by the caller.`);
  }
  if (/[\r\n]/.test(value)) throw invalid(`The value of the header ${name} contains a line break.`);
  if (!FIELD_VALUE.test(value)) {
    throw invalid(`The value of the header ${name} contains characters that HTTP does not allow.`);
  }
}

function invalid(message: string): HttpClientError {
  return new HttpClientError("INVALID_REQUEST", message);
}
