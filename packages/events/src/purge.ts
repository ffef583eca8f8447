import { loop } from "@workflow/async";
import { deleteMarked, tryLockOutbox } from "./relay-queries.ts";
import type { OutboxRelayOptions } from "./relay-options.ts";

const PAGE_ROWS = 2_000;
const IDLE_TIMEOUT_MS = 10_000;
const INTERVAL_MS = 60 * 60 * 1_000;

/**
 * Deletes events that earlier versions of the service have marked as published instead of deleting
 * them, now and while such a version still runs beside this one. Ends with the signal. Never rejects.
 */
export function startPurge(options: OutboxRelayOptions & { signal: AbortSignal }): Promise<void> {
  const { schema, logger, signal, purgeIntervalMs: intervalMs = INTERVAL_MS } = options;
  const run = (): Promise<void> => purge(options);
  return loop({ name: `purge-outbox ${schema}`, signal, intervalMs, logger, run }).done;
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
