import { deleteMarked, tryLockOutbox } from "./relay-queries.ts";
import type { OutboxRelayOptions } from "./relay-options.ts";
import { sleep } from "./timing.ts";

const PAGE_ROWS = 2_000;
const IDLE_TIMEOUT_MS = 10_000;
const INTERVAL_MS = 60 * 60 * 1_000;

/**
 * Deletes events that earlier versions of the service have marked as published instead of deleting
 * them, now and while such a version still runs beside this one. Ends with the signal. Never rejects.
 */
export async function startPurge(
  options: OutboxRelayOptions & { signal: AbortSignal },
): Promise<void> {
  const { schema, logger, signal, purgeIntervalMs = INTERVAL_MS } = options;
  while (!signal.aborted) {
    try {
      await purge(options);
    } catch (err) {
      logger.warn({ schema, err }, "published events could not be purged");
    }
    await sleep(purgeIntervalMs, signal);
  }
}

/** Purges in small transactions, one a page. If another relay is purging, it is left to that one. */
async function purge(options: OutboxRelayOptions & { signal: AbortSignal }): Promise<void> {
  const { database, schema, signal } = options;
  let deleted = PAGE_ROWS;
  while (!signal.aborted && deleted === PAGE_ROWS) {
    deleted = await database.transaction(async (tx) => {
      if (!(await tryLockOutbox(tx, schema, "purge", IDLE_TIMEOUT_MS))) return 0;
      return deleteMarked(tx, schema, PAGE_ROWS);
    });
  }
}
