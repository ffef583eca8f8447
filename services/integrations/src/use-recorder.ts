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
  const pending = new Map<string, Date>();
  return {
    record(secretIds) {
      const usedAt = new Date();
      for (const id of secretIds) {
        if (pending.size < PENDING_MAX || pending.has(id)) pending.set(id, usedAt);
      }
    },
    async flush() {
      while (pending.size > 0) {
        const uses = [...pending.entries().take(BATCH_MAX)].map(([id, usedAt]) => ({ id, usedAt }));
        await updateLastUsed(database, uses);
        for (const { id, usedAt } of uses) {
          if (pending.get(id) === usedAt) pending.delete(id);
        }
      }
    },
  };
}
