import type { Database } from "@workflow/db";
import { updateLastUsed } from "./store/secrets.ts";

/** Collects which secrets are in use and writes it down now and then, see `lastUsedAt`. */
export interface UseRecorder {
  record(secretIds: readonly string[]): void;
  /** Writes what has come together. */
  flush(): Promise<void>;
}

/** Beyond this many, uses are not noted until some were written. */
const PENDING_MAX = 100_000;
const BATCH_MAX = 5_000;

/** What was not flushed when the process dies is lost; what could not be written is tried again. */
export function createUseRecorder(database: Database): UseRecorder {
  let pending = new Map<string, Date>();

  /** Keeps uses for the next flush, unless there was a later one meanwhile. */
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
      // What comes from now on is for the next flush: a secret in constant use must not keep this one.
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
