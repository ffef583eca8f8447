import type { Database } from "@workflow/db";
import { LRUCache } from "lru-cache";
import { updateLastUsed } from "../store/api-keys.ts";

const WRITE_EVERY_MS = 60_000;
const KEYS_MAX = 10_000;

/** Collects which API keys are in use and writes it down now and then. */
export interface LastUsedRecorder {
  record(apiKeyId: string): void;
  /** Writes what has come together, in one statement. */
  flush(): Promise<void>;
}

/**
 * A recorder that writes a key's last use at most once a minute. What was not flushed when the
 * process dies is lost, and what could not be written waits for the key's next use.
 */
export function createLastUsedRecorder(database: Database): LastUsedRecorder {
  const recent = new LRUCache<string, true>({ max: KEYS_MAX, ttl: WRITE_EVERY_MS });
  let pending = new Map<string, Date>();
  return {
    record(apiKeyId) {
      if (recent.has(apiKeyId)) return;
      recent.set(apiKeyId, true);
      pending.set(apiKeyId, new Date());
    },
    async flush() {
      if (pending.size === 0) return;
      const uses = [...pending].map(([id, usedAt]) => ({ id, usedAt }));
      pending = new Map();
      try {
        await updateLastUsed(database, uses);
      } catch (error) {
        for (const { id } of uses) recent.delete(id);
        throw error;
      }
    },
  };
}
