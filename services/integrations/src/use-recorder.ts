import type { Database } from "@workflow/db";
import { updateLastUsed } from "./store/secrets.ts";

/** Collects the uses of secrets and stores them at intervals, see `lastUsedAt`. */
export interface UseRecorder {
  record(secretIds: readonly string[]): void;
  /** Stores the collected uses. */
  flush(): Promise<void>;
}

/** With this many uncollected uses, further ones are not noted. */
const PENDING_MAX = 100_000;
const BATCH_MAX = 5_000;

/**
 * A recorder of last uses. Uses that were not flushed are lost when the process dies; a failed write is
 * repeated.
 */
export function createUseRecorder(database: Database): UseRecorder {
  let pending = new Map<string, Date>();

  /** Returns uses to the next flush, unless a later use came meanwhile. */
  const putBack = (uses: Iterable<readonly [string, Date]>): void => {
    for (const [id, usedAt] of uses) {
      if (!pending.has(id) && pending.size < PENDING_MAX) pending.set(id, usedAt);
    }
  };

  return {
    record(secretIds) {
      const usedAt = new Date();
      for (const id of secretIds) {
        if (pending.size < PENDING_MAX || pending.has(id)) pending.set(id, usedAt);
      }
    },
    async flush() {
      const uses = [...pending];
      // Later uses belong to the next flush; otherwise a secret in constant use would prolong this one
      // for ever.
      pending = new Map();
      for (let start = 0; start < uses.length; start += BATCH_MAX) {
        const batch = uses.slice(start, start + BATCH_MAX);
        try {
          await updateLastUsed(
            database,
            batch.map(([id, usedAt]) => ({ id, usedAt })),
          );
        } catch (error) {
          putBack(uses.slice(start));
          throw error;
        }
      }
    },
  };
}
