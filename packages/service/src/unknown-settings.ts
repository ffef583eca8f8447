/**
 * Prefixes of our own settings. Vendors' prefixes (RESTATE_, NANGO_, OPENAI_, …) are not listed,
 * because their own tools read such variables.
 */
const RESERVED_PREFIXES = [
  "DELIVERY_",
  "GRPC_ALLOW_",
  "GRPC_TLS_",
  "INTEGRATIONS_",
  "INTERNAL_TOKEN_",
  "METRICS_",
  "OUTBOUND_",
  "RATE_LIMIT_",
  "RUNS_",
  "SECRETS_",
  "TABLES_",
  "TASK_",
  "WEBHOOKS_",
  "WEBHOOK_",
  "WORKFLOWS_",
];

/**
 * Variables that Kubernetes sets in every pod for each service of the namespace. For a service `runs`
 * they are RUNS_SERVICE_HOST, RUNS_PORT, RUNS_PORT_50052_TCP_ADDR and so on.
 */
const KUBERNETES_SERVICE_LINK =
  /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

const SHORTEST_NAME_COMPARED = 6;

/** An environment variable that looks like a setting but is not one. */
export interface UnknownSetting {
  name: string;
  /** The setting that was probably meant. */
  suggestion: string | undefined;
}

/**
 * Finds misspelt settings in an environment: names with one of our prefixes, and names that are one
 * slip away from a known one.
 */
export function findUnknownSettings(
  names: readonly string[],
  known: readonly string[],
): UnknownSetting[] {
  const knownNames = new Set(known);
  return names
    .filter((name) => /^[A-Z][A-Z0-9_]*$/.test(name) && !knownNames.has(name))
    .filter((name) => !KUBERNETES_SERVICE_LINK.test(name))
    .map((name) => ({ name, suggestion: closest(name, known) }))
    .filter(({ name, suggestion }) => suggestion !== undefined || isReserved(name));
}

function isReserved(name: string): boolean {
  return RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

function closest(name: string, known: readonly string[]): string | undefined {
  const candidates = known
    .filter((candidate) => candidate.length >= SHORTEST_NAME_COMPARED)
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ candidate, distance }) => distance <= slipsAllowed(candidate))
    .sort((a, b) => a.distance - b.distance);
  return candidates[0]?.candidate;
}

/**
 * Short names are allowed one slip only: HTTP_URL is two letters away from SMTP_URL, but means another
 * thing.
 */
function slipsAllowed(name: string): number {
  return name.length >= 10 ? 2 : 1;
}

/**
 * The edit distance: insertions, deletions, substitutions and swaps of neighbours (optimal string
 * alignment).
 */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          at(last, j) + 1,
          at(row, j - 1) + 1,
          at(last, j - 1) + (isSame ? 0 : 1),
          isSwap ? at(beforeLast, j - 2) + 1 : Infinity,
        ),
      );
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
