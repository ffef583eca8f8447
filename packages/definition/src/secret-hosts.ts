/** The most entries in a secret's list of hosts (D66). */
const HOSTS_MAX = 20;
/** RFC 1035, section 2.3.4: as text, without the dot at the end. */
const HOST_CHARS_MAX = 253;
/** Characters by which a URL's parser would find more than a host, or other characters. */
// oxlint-disable-next-line no-control-regex -- control characters are what a host may not hold
const FOREIGN = /[\u0000-\u0020/?#@\\%]/;
const WILDCARD = "*.";

/** One problem: its place in the list, and words that follow the name of the place. */
export interface SecretHostProblem {
  /** Empty for the list itself, otherwise the entry's index in decimals. */
  path: string[];
  message: string;
}

/** A list of hosts in its stored form, or all of its problems. */
export type SecretHosts =
  { ok: true; hosts: readonly string[] } | { ok: false; problems: readonly SecretHostProblem[] };

/**
 * Reads the hosts that a secret is bound to: 1 to 20 of `api.example.com`, `*.example.com` (any name below,
 * not the domain itself), an IPv4 address or an IPv6 address in brackets; no scheme, no port. The result is
 * in lower case and ASCII (IDNA), without a dot at the end, each host once.
 */
export function parseSecretHosts(value: unknown): SecretHosts {
  if (!Array.isArray(value) || value.length < 1 || value.length > HOSTS_MAX) {
    return refused([], `must be an array of 1 to ${HOSTS_MAX} hosts, or null for any host`);
  }
  const problems: SecretHostProblem[] = [];
  const hosts = new Set<string>();
  for (const [index, entry] of value.entries()) {
    const host = normalizeHost(entry);
    if (host === null) problems.push({ path: [String(index)], message: PROBLEM });
    else hosts.add(host);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, hosts: [...hosts] };
}

const PROBLEM =
  "must be a host such as api.example.com or *.example.com, without a scheme, a port or a path";

/**
 * Whether a secret that is bound to hosts may be sent to a host.
 *
 * @param allowedHosts as `parseSecretHosts` returns them
 * @param hostname as a URL of the WHATWG standard has it: parsed, in lower case and ASCII
 */
export function isSecretHost(allowedHosts: readonly string[], hostname: string): boolean {
  const host = withoutDot(hostname);
  if (host === "") return false;
  return allowedHosts.some((allowed) =>
    allowed.startsWith(WILDCARD)
      ? host.endsWith(allowed.slice(1)) && host.length > allowed.length - 1
      : host === allowed,
  );
}

function normalizeHost(entry: unknown): string | null {
  if (typeof entry !== "string" || entry.length > HOST_CHARS_MAX) return null;
  const isWildcard = entry.startsWith(WILDCARD);
  const host = parseHost(isWildcard ? entry.slice(WILDCARD.length) : entry);
  if (host === null) return null;
  if (!isWildcard) return host;
  // An address has no names below it, and a whole top-level domain has far too many.
  return /[a-z]/.test(host) && host.includes(".") && !host.startsWith("[") ? WILDCARD + host : null;
}

/** Uses the parser of request URLs, so that both mean the same host. */
function parseHost(text: string): string | null {
  // The parser drops the scheme's default port.
  if (FOREIGN.test(text) || /:\d*$/.test(text) || text.includes("*")) return null;
  const url = URL.parse(`https://${text}/`);
  if (url === null || url.host !== url.hostname) return null;
  const host = withoutDot(url.hostname);
  const isWhole = url.href === `https://${url.hostname}/`;
  return isWhole && host !== "" && host.length <= HOST_CHARS_MAX ? host : null;
}

/** `example.com.` is the same host as `example.com`. */
function withoutDot(host: string): string {
  return host.endsWith(".") ? host.slice(0, -1) : host;
}

function refused(path: string[], message: string): SecretHosts {
  return { ok: false, problems: [{ path, message }] };
}
