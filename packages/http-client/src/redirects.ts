import type { HopRequest, HopResponse } from "./exchange.ts";
import { parseTarget } from "./target-url.ts";
import type { TargetPolicy } from "./target-url.ts";

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/**
 * Names under which credentials travel. A redirect to another origin must not carry them along,
 * and besides the two standard ones every API has its own.
 */
const CREDENTIAL_NAME = /authorization|cookie|token|secret|signature|password|api-?key/i;

/** Headers that describe a body which is no longer sent. */
const BODY_NAME = /^content-/i;

/**
 * The request that a response asks to make next, or null when it does not redirect. The method
 * changes as in the Fetch standard (section 4.4): 303 leads to GET, 301 and 302 turn a POST into
 * one; 307 and 308 repeat method and body.
 *
 * @throws HttpClientError INVALID_URL, ADDRESS_NOT_ALLOWED for a target that the policy refuses
 */
export function findNextHop(
  hop: HopRequest,
  response: HopResponse,
  policy: TargetPolicy,
): HopRequest | null {
  const location = response.headers["location"];
  if (!REDIRECT_STATUSES.has(response.status) || typeof location !== "string") return null;
  // Header bytes arrive as Latin-1; a path that the server did not escape is UTF-8.
  const target = Buffer.from(location, "latin1").toString();
  const url = parseTarget(target, policy, hop.url);
  const headers =
    url.origin === hop.url.origin
      ? hop.headers
      : hop.headers.filter(([name]) => !CREDENTIAL_NAME.test(name));
  if (!becomesGet(hop.method, response.status)) return { ...hop, url, headers };
  return {
    method: "GET",
    url,
    headers: headers.filter(([name]) => !BODY_NAME.test(name)),
    body: undefined,
  };
}

function becomesGet(method: string, status: number): boolean {
  if (status === 303) return method !== "GET" && method !== "HEAD";
  return (status === 301 || status === 302) && method === "POST";
}
