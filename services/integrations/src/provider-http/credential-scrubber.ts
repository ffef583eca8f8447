import { createHash } from "node:crypto";
import { fill, patternValues } from "@workflow/catalog";
import type { ConnectionAccess, ProviderManifest } from "@workflow/catalog";
import { createScrubber } from "@workflow/scrubber";
import type { Scrubber } from "@workflow/scrubber";
import { LRUCache } from "lru-cache";

/**
 * Takes a connection's credentials out of what others said, in every form that the package knows. Others
 * have their turns while that takes long.
 */
export interface CredentialScrubber {
  /** The texts that are looked for, as they may appear in plain. */
  readonly secrets: readonly string[];
  /** So many characters of a text's beginning; there is no half of a credential at their end. */
  readonly beginning: (text: string, charsMax: number) => Promise<string>;
  /** Strings, numbers and names of members at any depth; the very value where there is nothing to take out. */
  readonly json: (value: unknown) => Promise<unknown>;
}

/** Anything shorter would take words out of what is harmless. */
const LENGTH_MIN = 4;

/**
 * What one holds, measured: some 20 KB a credential, and hundreds of bytes a character once the end of a
 * long text was looked at. At most so many and so much are kept, whatever tenants name their keys.
 */
const BYTES = { each: 20_000, aCharacter: 400, most: 64 * 1024 * 1024 };
const KEPT_MAX = 500;

/** By a digest of all that is looked for: so other credentials, of any version, are others. */
const kept = new LRUCache<string, Scrubber>({ max: KEPT_MAX, maxSize: BYTES.most });

/** The scrubber of a connection. It is prepared only when something has to be looked at. */
export function scrubberOf(
  provider: ProviderManifest,
  connection: ConnectionAccess,
): CredentialScrubber {
  const secrets = secretsOf(provider, connection);
  return {
    secrets,
    async beginning(text, charsMax) {
      const scrubber = prepared(secrets);
      if (scrubber === null) return text.slice(0, charsMax);
      const clean =
        text.length > charsMax
          ? await scrubber.cutTextInTurns(text, charsMax)
          : await scrubber.textInTurns(text);
      return clean.slice(0, charsMax);
    },
    async json(value) {
      const scrubber = prepared(secrets);
      return scrubber === null ? value : scrubber.jsonInTurns(value);
    },
  };
}

function secretsOf({ sign }: ProviderManifest, connection: ConnectionAccess): string[] {
  const values = patternValues(connection);
  const pair = sign.basic?.map((pattern) => fillOrEmpty(pattern, values)).join(":");
  const given = [...Object.values(connection.credentials), ...(pair === undefined ? [] : [pair])];
  return [...new Set(given)].filter(({ length }) => length >= LENGTH_MIN);
}

/** A connection that lacks something signs no request. */
function fillOrEmpty(pattern: string, values: Readonly<Record<string, string>>): string {
  try {
    return fill(pattern, values);
  } catch {
    return "";
  }
}

function prepared(secrets: readonly string[]): Scrubber | null {
  const name = createHash("sha256").update(JSON.stringify(secrets)).digest("base64");
  const known = kept.get(name);
  if (known !== undefined) return known;
  const scrubber = createScrubber(secrets);
  if (scrubber === null) return null;
  const size = secrets.reduce((sum, { length }) => sum + BYTES.each + BYTES.aCharacter * length, 0);
  // What is larger than all of it is not kept.
  kept.set(name, scrubber, { size });
  return scrubber;
}

/** How many scrubbers this process keeps, and how many bytes they are taken for. */
export function keptScrubbers(): { count: number; bytes: number } {
  return { count: kept.size, bytes: kept.calculatedSize };
}
