import { fill, patternValues } from "@workflow/catalog";
import type { ConnectionAccess, ProviderManifest } from "@workflow/catalog";

/** Takes a connection's credentials out of what others said. */
export interface CredentialScrubber {
  /** The texts that are looked for, as they may appear in plain. */
  readonly secrets: readonly string[];
  readonly text: (text: string) => string;
  /** Strings and names of members at any depth; the very value where there is nothing to take out. */
  readonly json: (value: unknown) => unknown;
}

const MASK = "••••";
/** Anything shorter would take words out of what is harmless. */
const LENGTH_MIN = 4;

const known = new WeakMap<ConnectionAccess, CredentialScrubber>();

/** The scrubber of a connection; made once for as long as its credentials are remembered. */
export function scrubberOf(
  provider: ProviderManifest,
  connection: ConnectionAccess,
): CredentialScrubber {
  const made = known.get(connection) ?? createScrubber(secretsOf(provider, connection));
  known.set(connection, made);
  return made;
}

function secretsOf({ sign }: ProviderManifest, connection: ConnectionAccess): string[] {
  const values = patternValues(connection);
  const pair = sign.basic?.map((pattern) => fillOrEmpty(pattern, values)).join(":");
  return [...Object.values(connection.credentials), ...(pair === undefined ? [] : [pair])];
}

/** A connection that lacks something signs no request. */
function fillOrEmpty(pattern: string, values: Readonly<Record<string, string>>): string {
  try {
    return fill(pattern, values);
  } catch {
    return "";
  }
}

function createScrubber(given: readonly string[]): CredentialScrubber {
  const secrets = [...new Set(given)].filter(({ length }) => length >= LENGTH_MIN);
  // The longest first: one may be a part of another.
  const forms = [...new Set(secrets.flatMap(formsOf))].toSorted((a, b) => b.length - a.length);
  const clean = (text: string): string =>
    forms.reduce((left, form) => (left.includes(form) ? left.replaceAll(form, MASK) : left), text);
  const json = (value: unknown): unknown => {
    if (typeof value === "string") return clean(value);
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [clean(key), json(member)]),
    );
  };
  return {
    secrets,
    text: clean,
    json(value) {
      // Most answers have none: looking at their text is many times faster than making them anew.
      const text = JSON.stringify(value) ?? "";
      const inText = forms.some(
        (form) => text.includes(form) || text.includes(JSON.stringify(form).slice(1, -1)),
      );
      return inText ? json(value) : value;
    },
  };
}

/** How servers repeat what they were sent: plain, in a URL or a form, and in base64. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams([["", secret]]).toString().slice(1),
    bytes.toString("base64"),
    bytes.toString("base64url"),
    bytes.toString("hex"),
  ];
}
