import type { HopRequest, HopResponse } from "./exchange.ts";
import { HttpClientError } from "./http-client-error.ts";
import { parseTarget } from "./target-url.ts";
import type { TargetPolicy } from "./target-url.ts";

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/**
 * The headers that a redirect takes to another origin. The list allows instead of forbids: names of
 * credential headers are countless, as every API has its own (X-Auth-Key, Ocp-Apim-Subscription-Key, …).
 */
const CROSS_ORIGIN_NAMES: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "traceparent",
  "user-agent",
]);

/** Headers that describe a body which is no longer sent. */
const BODY_NAME = /^content-/i;

/**
 * The next request that a response asks for, or null when it does not redirect. The method changes as in the
 * Fetch standard (section 4.4): 303 leads to GET, 301 and 302 turn POST into GET. Other redirects repeat
 * method and body. Another origin gets no body, and only headers that reveal nothing about the caller.
 *
 * @throws HttpClientError INVALID_URL, ADDRESS_NOT_ALLOWED for a target that the policy refuses;
 * REDIRECT_REFUSED for a target that would take a body to another origin, or leave https
 */
export function findNextHop(
  hop: HopRequest,
  response: HopResponse,
  policy: TargetPolicy,
): HopRequest | null {
  const location = response.headers["location"];
  if (!REDIRECT_STATUSES.has(response.status) || typeof location !== "string") return null;
  // Header bytes arrive as Latin-1. An unescaped path is UTF-8.
  const target = Buffer.from(location, "latin1").toString();
  assertNoDowngrade(hop.url, target);
  const url = parseTarget(target, policy, hop.url);
  const next = becomesGet(hop.method, response.status) ? withoutBody(hop) : hop;
  if (url.origin === hop.url.origin) return { ...next, url };
  if (next.body !== undefined && next.body.length > 0) throw bodyRefused(hop.url, url);
  const bodiless = withoutBody(next);
  const headers = bodiless.headers.filter(([name]) => CROSS_ORIGIN_NAMES.has(name.toLowerCase()));
  return { ...bodiless, method: next.method, url, headers };
}

function becomesGet(method: string, status: number): boolean {
  if (status === 303) return method !== "GET" && method !== "HEAD";
  return (status === 301 || status === 302) && method === "POST";
}

function withoutBody(hop: HopRequest): HopRequest {
  const headers = hop.headers.filter(([name]) => !BODY_NAME.test(name));
  return { ...hop, method: "GET", headers, body: undefined };
}

/** The rule also holds where http is allowed: a request under TLS is not repeated in the clear. */
function assertNoDowngrade(from: URL, target: string): void {
  if (from.protocol !== "https:" || URL.parse(target, from.href)?.protocol !== "http:") return;
  const message = `${from.host} redirected from https to http, which is not followed.`;
  throw new HttpClientError("REDIRECT_REFUSED", message, { sent: true });
}

function bodyRefused(from: URL, to: URL): HttpClientError {
  const message = `${from.host} redirected a request with a body to ${to.host}, another origin, which does not get it.`;
  return new HttpClientError("REDIRECT_REFUSED", message, { sent: true });
}
