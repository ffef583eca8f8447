import { purgePage, tryLockOutbox } from "./relay-queries.ts";
import type { OutboxRelayOptions } from "./relay-options.ts";
import { sleep } from "./timing.ts";

const PAGE_ROWS = 2_000;
const IDLE_TIMEOUT_MS = 10_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Deletes old published events, now and then, until the signal. Never rejects. */
export async function startPurge(
  options: OutboxRelayOptions & { signal: AbortSignal },
): Promise<void> {
  const { schema, logger, signal, purgeIntervalMs = 60_000 } = options;
  while (!signal.aborted) {
    try {
      await purge(options);
    } catch (err) {
      logger.warn({ schema, err }, "published events could not be purged");
    }
    await sleep(purgeIntervalMs, signal);
  }
}

/** Small transactions, one a page; where another relay is purging, it is left to that one. */
async function purge(options: OutboxRelayOptions & { signal: AbortSignal }): Promise<void> {
  const { database, schema, signal, retainMs = DAY_MS } = options;
  let afterSeq = 0;
  while (!signal.aborted) {
    const page = await database.transaction(async (tx) => {
      if (!(await tryLockOutbox(tx, schema, "purge", IDLE_TIMEOUT_MS))) return null;
      return purgePage(tx, schema, { afterSeq, limit: PAGE_ROWS, retainMs });
    });
    if (page === null || page.done || page.lastSeq === null) return;
    afterSeq = page.lastSeq;
  }
}
