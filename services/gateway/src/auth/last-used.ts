import { LRUCache } from "lru-cache";

const WRITE_EVERY_MS = 60_000;
const ENTRIES_MAX = 20_000;

/** The time of a use. */
export interface Use {
  id: string;
  usedAt: Date;
}

/** Collects uses and stores them at intervals. */
export interface LastUsedRecorder {
  record(id: string): void;
  /** Stores the collected uses, in one statement. */
  flush(): Promise<void>;
}

/**
 * A recorder that stores the last use of each id at most once a minute. Uses that were not flushed
 * are lost when the process dies; a failed write waits for the next use.
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
