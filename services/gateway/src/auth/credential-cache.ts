import type { CacheMetrics, CacheSize } from "@workflow/service";
import { LRUCache } from "lru-cache";
import { createLookUps } from "./look-ups.ts";
import type { LookUpMany, LookUps } from "./look-ups.ts";

/**
 * Less than the 5 s within which a revoked credential must be refused (D12), since a lookup takes
 * time too.
 */
const KNOWN_FOR_MS = 4_000;
/** An entry of this age that is still in use is renewed before anybody has to wait for it. */
const FRESH_FOR_MS = 2_000;
/** Renewals are collected for this long. */
const RENEWAL_MS = 250;
const UNKNOWN_FOR_MS = 1_000;
/** The size of each cache: that of known hashes, and that of unknown ones. */
const ENTRIES_MAX = 20_000;

/** Caches for a few seconds what credentials stand for. */
export interface CredentialCache<Found extends object> {
  /** The value of a credential's hash; null for an unknown one. Rejects when the lookup does. */
  find(hash: Buffer): Promise<Found | null>;
  /** Invalidates the matching entries: the next request looks them up again. */
  invalidate(isMeant: (found: Found) => boolean): void;
}

interface Known<Found> {
  found: Found;
  /** The age of an entry counts from the question, because a revocation may overtake the answer. */
  askedAt: number;
}

/**
 * A cache in front of a lookup. Requests that miss it in the same turn of the event loop share one
 * lookup. Credentials in steady use are renewed in the background, many at a time; otherwise, of
 * 10,000 callers in turn, nearly every request would wait for its own lookup. Unknown hashes have a
 * cache of their own, so that guesses cannot displace known ones.
 *
 * @param lookUp the values of some hashes, by the hash in base64
 * @param watch receives the cache, for metrics of its reads
 */
export function createCredentialCache<Found extends object>(
  lookUp: LookUpMany<Found>,
  watch: (look: () => CacheSize) => CacheMetrics = unwatched,
): CredentialCache<Found> {
  const known = new LRUCache<string, Known<Found>>({ max: ENTRIES_MAX });
  const metrics = watch(() => ({ entries: known.size }));
  const unknown = new LRUCache<string, number>({ max: ENTRIES_MAX });
  /** Each invalidation raises it: an answer to an earlier question is not cached. */
  let changes = 0;
  const remember = (key: string, answers: ReadonlyMap<string, Found>, askedAt: number): void => {
    const found = answers.get(key);
    if (found !== undefined) known.set(key, { found, askedAt });
    else {
      known.delete(key);
      unknown.set(key, askedAt);
    }
  };

  const lookUps = createLookUps(async (hashes) => {
    const askedAt = performance.now();
    const changesBefore = changes;
    const answers = await lookUp(hashes);
    if (changesBefore === changes) {
      for (const hash of hashes) remember(hash.toString("base64"), answers, askedAt);
    }
    return answers;
  });

  const renewals = createRenewals(lookUps);

  return {
    async find(hash) {
      const key = hash.toString("base64");
      const now = performance.now();
      const entry = known.get(key);
      if (entry !== undefined && now - entry.askedAt < KNOWN_FOR_MS) {
        if (now - entry.askedAt >= FRESH_FOR_MS) renewals.add(key, hash);
        metrics.hit();
        return entry.found;
      }
      metrics.miss();
      const missedAt = unknown.get(key);
      if (missedAt !== undefined && now - missedAt < UNKNOWN_FOR_MS) return null;
      return lookUps.ask(key, hash);
    },
    invalidate(isMeant) {
      changes += 1;
      lookUps.restart();
      for (const [key, { found }] of known.entries()) {
        if (isMeant(found)) known.delete(key);
      }
    },
  };
}

/** Collects entries that are to be renewed, and looks them up together. */
function createRenewals<Found extends object>(lookUps: LookUps<Found>) {
  const hashes = new Map<string, Buffer>();
  const renew = (): void => {
    const due = [...hashes];
    hashes.clear();
    for (const [key, hash] of due) {
      // A failed renewal concerns only those who ask after the entry has expired.
      lookUps.ask(key, hash).catch(() => {});
    }
  };
  return {
    add(key: string, hash: Buffer): void {
      if (hashes.has(key)) return;
      hashes.set(key, hash);
      if (hashes.size === 1) setTimeout(renew, RENEWAL_MS).unref();
    },
  };
}

function unwatched(): CacheMetrics {
  return { hit: () => {}, miss: () => {} };
}
