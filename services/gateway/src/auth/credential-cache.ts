import { LRUCache } from "lru-cache";

/** Below the 5 s after which what was revoked must be refused (D12): a look-up itself takes time. */
const KNOWN_FOR_MS = 4_000;
const UNKNOWN_FOR_MS = 1_000;
/** Of each: found ones, and hashes that belong to nothing. */
const ENTRIES_MAX = 10_000;

/** Remembers for a few seconds what credentials stand for. */
export interface CredentialCache<Found extends object> {
  /** What belongs to the hash of a credential; null for nothing. Rejects when the look-up does. */
  find(hash: Buffer): Promise<Found | null>;
  /** Drops what is remembered of those that are meant: the next request looks them up again. */
  forget(isMeant: (found: Found) => boolean): void;
}

/**
 * A cache in front of a look-up. Requests that miss it at the same time share one look-up. Hashes
 * that belong to nothing are remembered apart, so that guessing cannot push out the others.
 */
export function createCredentialCache<Found extends object>(
  lookUp: (hash: Buffer) => Promise<Found | null>,
): CredentialCache<Found> {
  const known = new LRUCache<string, Found>({ max: ENTRIES_MAX, ttl: KNOWN_FOR_MS });
  const unknown = new LRUCache<string, true>({ max: ENTRIES_MAX, ttl: UNKNOWN_FOR_MS });
  let underWay = new Map<string, Promise<Found | null>>();

  const lookUpOnce = (hash: Buffer, key: string): Promise<Found | null> => {
    const lookups = underWay;
    const shared = lookups.get(key);
    if (shared !== undefined) return shared;
    // The age of an answer counts from the question: a revocation may overtake it.
    const start = performance.now();
    const lookup = lookUp(hash)
      .then((found) => {
        // Something was forgotten meanwhile, perhaps this: then the answer is for now only.
        if (lookups !== underWay) return found;
        if (found === null) unknown.set(key, true);
        else known.set(key, found, { start });
        return found;
      })
      .finally(() => lookups.delete(key));
    lookups.set(key, lookup);
    return lookup;
  };

  return {
    async find(hash) {
      const key = hash.toString("base64");
      const found = known.get(key);
      if (found !== undefined) return found;
      return unknown.has(key) ? null : lookUpOnce(hash, key);
    },
    forget(isMeant) {
      underWay = new Map();
      for (const [key, found] of known.entries()) {
        if (isMeant(found)) known.delete(key);
      }
    },
  };
}
