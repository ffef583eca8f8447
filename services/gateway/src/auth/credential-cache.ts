import type { CacheMetrics, CacheSize } from "@workflow/service";
import { LRUCache } from "lru-cache";
import { createLookUps } from "./look-ups.ts";
import type { LookUpMany } from "./look-ups.ts";

/** Below the 5 s after which what was revoked must be refused (D12): a look-up itself takes time. */
const KNOWN_FOR_MS = 4_000;
/** What is still in use then is asked for anew, before anybody has to wait for it. */
const FRESH_FOR_MS = 2_000;
/** Those gather for so long. */
const RENEWAL_MS = 250;
const UNKNOWN_FOR_MS = 1_000;
/** Of each: found ones, and hashes that belong to nothing. */
const ENTRIES_MAX = 20_000;

/** Remembers for a few seconds what credentials stand for. */
export interface CredentialCache<Found extends object> {
  /** What belongs to the hash of a credential; null for nothing. Rejects when the look-up does. */
  find(hash: Buffer): Promise<Found | null>;
  /** Drops what is remembered of those that are meant: the next request looks them up again. */
  invalidate(isMeant: (found: Found) => boolean): void;
}

interface Known<Found> {
  found: Found;
  /** The age of an answer counts from the question: a revocation may overtake it. */
  askedAt: number;
}

/**
 * A cache in front of a look-up. Requests that miss it in the same turn of the event loop share one
 * look-up; credentials in steady use are asked for again in the background, many at a time: of 10,000
 * callers in turn nearly every request would else wait for its own. Hashes that belong to nothing are
 * remembered apart, so that guessing cannot push out the others.
 *
 * @param lookUp what there is of some hashes, by the hash in base64
 * @param watch makes what counts its reads
 */
export function createCredentialCache<Found extends object>(
  lookUp: LookUpMany<Found>,
  watch: (look: () => CacheSize) => CacheMetrics = unwatched,
): CredentialCache<Found> {
  const known = new LRUCache<string, Known<Found>>({ max: ENTRIES_MAX });
  const metrics = watch(() => ({ entries: known.size }));
  const unknown = new LRUCache<string, number>({ max: ENTRIES_MAX });
  /** Raised by each change: an answer to an earlier question is for those who wait for it only. */
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

  const renewals = new Map<string, Buffer>();
  const renewSoon = (key: string, hash: Buffer): void => {
    if (renewals.has(key)) return;
    renewals.set(key, hash);
    if (renewals.size > 1) return;
    setTimeout(() => {
      const due = [...renewals];
      renewals.clear();
      for (const [each, eachHash] of due) {
        // A failure is for those who ask when what is known is too old.
        lookUps.ask(each, eachHash).catch(() => {});
      }
    }, RENEWAL_MS).unref();
  };

  return {
    async find(hash) {
      const key = hash.toString("base64");
      const now = performance.now();
      const entry = known.get(key);
      if (entry !== undefined && now - entry.askedAt < KNOWN_FOR_MS) {
        if (now - entry.askedAt >= FRESH_FOR_MS) renewSoon(key, hash);
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

function unwatched(): CacheMetrics {
  return { hit: () => {}, miss: () => {} };
}
