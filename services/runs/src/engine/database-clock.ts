import type { Database } from "@workflow/db";
import { loop } from "@workflow/service";
import type { Logger } from "pino";
import type { Clock } from "../domain/clock.ts";
import { readClock } from "../store/read-clock.ts";

/** Clocks of machines drift some milliseconds an hour. */
const MEASURE_INTERVAL_MS = 60_000;

/**
 * The clock of the database, followed by what has gone by in this process since it was read. So due times
 * mean the same to every worker and to the statements that claim tasks, and a jump of this machine's clock
 * moves nothing.
 *
 * @returns once it was read for the first time
 */
export async function startDatabaseClock(
  database: Database,
  logger: Logger,
  signal: AbortSignal,
): Promise<Clock & { stopped: Promise<void> }> {
  let aheadMs = 0;
  const measure = async (): Promise<void> => {
    const askedAt = performance.now();
    const nowMs = await readClock(database);
    // The answer is from about the middle of the round trip.
    aheadMs = nowMs - (askedAt + performance.now()) / 2;
  };
  await measure();
  const measuring = loop({
    name: "read-database-clock",
    signal,
    intervalMs: MEASURE_INTERVAL_MS,
    logger,
    run: measure,
  });
  return { now: () => Math.round(performance.now() + aheadMs), stopped: measuring.done };
}
