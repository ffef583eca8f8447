import { halfRandom, loop, sleep } from "@workflow/async";
import type { Loop } from "@workflow/async";
import { sqlStateOf } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import {
  deleteOldEventKeys,
  detachPartition,
  dropDetachedPartitions,
  listEndedPartitions,
  makePartitions,
} from "../store/partitions.ts";

/** The dependencies of retention. */
export interface RetentionOptions {
  database: Database;
  logger: Logger;
  signal: AbortSignal;
  /** The time for which events and deliveries are kept. They are removed by whole weeks. */
  retentionDays: number;
  /** The pause between two passes; ten minutes by default. */
  intervalMs?: number | undefined;
}

const INTERVAL_MS = 10 * 60_000;
/**
 * The waits for the table, during which requests wait too. The first ones are short, later ones as long
 * as is acceptable.
 */
const DETACH_WAITS_MS = [25, 50, 100, ...Array.from({ length: 27 }, () => 150)];
const DETACH_PAUSE_MS = 750;
const LOCK_NOT_AVAILABLE = "55P03";
/** The time for which senders' ids are kept, so that repeats are recognized (D41). */
const KEYS_KEPT_DAYS = 30;
const KEYS_MAX = 1_000;

/** Makes the partitions of the weeks to come, and removes those that are over, without long locks (D58). */
export function keepWeeks(options: RetentionOptions): Loop {
  const { database, logger, signal, intervalMs = INTERVAL_MS } = options;
  return loop({
    name: "keep-weeks",
    signal,
    intervalMs,
    logger,
    run: async () => {
      await makePartitions(database);
      // Partitions that a dead process has detached.
      await dropDetachedPartitions(database);
      for (const name of await listEndedPartitions(database, options.retentionDays)) {
        if (signal.aborted) return;
        await dropPartition(options, name);
      }
      while (!signal.aborted) {
        if ((await deleteOldEventKeys(database, KEYS_KEPT_DAYS, KEYS_MAX)) < KEYS_MAX) return;
      }
    },
  });
}

async function dropPartition(
  { database, logger, signal, retentionDays }: RetentionOptions,
  name: string,
): Promise<void> {
  for (const waitMs of DETACH_WAITS_MS) {
    if (signal.aborted) return;
    try {
      if (!(await detachPartition(database, name, retentionDays, waitMs))) return;
      await dropDetachedPartitions(database);
      logger.info({ partition: name }, "a week of webhooks was removed");
      return;
    } catch (error) {
      if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
      logger.debug({ partition: name, waitMs }, "a partition is in use; it is tried again");
      await sleep(halfRandom(DETACH_PAUSE_MS), signal);
    }
  }
}
