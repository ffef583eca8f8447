import { createHash } from "node:crypto";
import { fill, patternValues } from "@workflow/catalog";
import type { ConnectionAccess, ProviderManifest } from "@workflow/catalog";
import { createScrubber } from "@workflow/scrubber";
import type { Scrubber } from "@workflow/scrubber";
import { LRUCache } from "lru-cache";

/**
 * Removes a connection's credentials from others' texts, in every form that the scrubber package knows.
 * A long text does not block the event loop.
 */
export interface CredentialScrubber {
  /** The texts that are searched for, in plain form. */
  readonly secrets: readonly string[];
  /** The first characters of a text, without a part of a credential at their end. */
  readonly beginning: (text: string, charsMax: number) => Promise<string>;
  /**
   * Scrubs strings, numbers and names of members at any depth; returns the same value when nothing was
   * removed.
   */
  readonly json: (value: unknown) => Promise<unknown>;
}

/** Shorter texts would remove harmless words. */
const LENGTH_MIN = 4;

/**
 * The measured memory of one scrubber: some 20 KB a credential, and hundreds of bytes a character once
 * the end of a long text was scrubbed. The number and the bytes of cached scrubbers are limited,
 * whatever tenants name their keys.
 */
const BYTES = { each: 20_000, aCharacter: 400, most: 64 * 1024 * 1024 };
const KEPT_MAX = 500;

/** The key is a digest of all texts, so each version of the credentials has its own scrubber. */
const kept = new LRUCache<string, Scrubber>({ max: KEPT_MAX, maxSize: BYTES.most });

/** The scrubber of a connection. It is prepared only when there is something to scrub. */
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

/** A connection that lacks a field signs no request. */
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
  // The cache does not keep a scrubber that is larger than the whole cache.
  kept.set(name, scrubber, { size });
  return scrubber;
}

/** The number of kept scrubbers, and the bytes that they count for. */
export function keptScrubbers(): { count: number; bytes: number } {
  return { count: kept.size, bytes: kept.calculatedSize };
}
