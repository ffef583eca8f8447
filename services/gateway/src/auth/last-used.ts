import { LRUCache } from "lru-cache";

const WRITE_EVERY_MS = 60_000;
const ENTRIES_MAX = 20_000;

/** When something was used. */
export interface Use {
  id: string;
  usedAt: Date;
}

/** Collects what is in use and writes it down now and then. */
export interface LastUsedRecorder {
  record(id: string): void;
  /** Writes what has come together, in one statement. */
  flush(): Promise<void>;
}

/**
 * A recorder that writes a last use at most once a minute each. What was not flushed when the
 * process dies is lost, and what could not be written waits for the next use.
 *
 * @param write stores the uses, of different ids, in one statement
 */
export function createLastUsedRecorder(
  write: (uses: readonly Use[]) => Promise<void>,
): LastUsedRecorder {
  const recent = new LRUCache<string, true>({ max: ENTRIES_MAX, ttl: WRITE_EVERY_MS });
  let pending = new Map<string, Date>();
  return {
    record(id) {
      if (recent.has(id)) return;
      recent.set(id, true);
      pending.set(id, new Date());
    },
    async flush() {
      if (pending.size === 0) return;
      const uses = [...pending].map(([id, usedAt]) => ({ id, usedAt }));
      pending = new Map();
      try {
        await write(uses);
      } catch (error) {
        for (const { id } of uses) recent.delete(id);
        throw error;
      }
    },
  };
}
