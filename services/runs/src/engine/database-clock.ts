import type { Scope } from "@workflow/async";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import type { Clock } from "../domain/clock.ts";
import { readClock } from "../store/read-clock.ts";

/** Clocks of machines drift some milliseconds an hour. */
const MEASURE_INTERVAL_MS = 60_000;

/**
 * The clock of the database: the time that was read last, plus what has passed in this process since. So
 * due times mean the same to every worker and to the statements that claim tasks. A jump of this
 * machine's clock moves nothing.
 *
 * @param scope measures until it closes
 * @returns once it was read for the first time
 */
export async function startDatabaseClock(
  database: Database,
  logger: Logger,
  scope: Scope,
): Promise<Clock> {
  let aheadMs = 0;
  const measure = async (): Promise<void> => {
    const askedAt = performance.now();
    const nowMs = await readClock(database);
    // The answer was made at about the middle of the round trip.
    aheadMs = nowMs - (askedAt + performance.now()) / 2;
  };
  await measure();
  scope.loop({
    name: "read-database-clock",
    intervalMs: MEASURE_INTERVAL_MS,
    logger,
    run: measure,
  });
  return { now: () => Math.round(performance.now() + aheadMs) };
}
