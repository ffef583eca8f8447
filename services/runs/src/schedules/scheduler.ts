import type { Logger } from "pino";
import type { Scope } from "@workflow/async";
import { notePoll } from "../store/scheduler-presence.ts";
import { fireDueSchedules } from "./fire-due-schedules.ts";
import type { FiringDependencies, Poll } from "./fire-due-schedules.ts";

/** The dependencies of a scheduler. */
export interface SchedulerOptions extends FiringDependencies {
  /** The clock that decides when schedules fire. */
  now: () => Date;
}

/** The longest time between two polls, so that changes by other processes are found. */
const POLL_MS = 1_000;
/** The longest poll takes less. If nobody has polled for this long, no scheduler was there. */
const AWAY_MS = 30_000;
/** The pause before the next poll while another process fires. */
const BUSY_MS = 50;

/**
 * Starts runs when their schedules are due. Any number of schedulers may work on one database: each
 * firing belongs to one. It wakes at the moment of the next firing, and polls every second besides. The close of
 * the scope waits for the firing that is under way.
 */
export function startScheduler(options: SchedulerOptions, scope: Scope): void {
  const { logger, now } = options;
  let presentAt: Date | null = null;
  const poll = async (): Promise<Poll> => {
    const moment = now();
    const look = { now: moment, presentAt, awayMs: AWAY_MS };
    const absence = await notePoll(options.database, look);
    const outcome = await fireDueSchedules(options, {
      now: moment,
      absence,
      horizonMs: POLL_MS,
    });
    // A long poll is no absence.
    presentAt = now();
    return outcome;
  };
  scope.loop({
    name: "fire-schedules",
    intervalMs: POLL_MS,
    logger,
    async run() {
      const outcome = await pollSafely(poll, logger);
      if (outcome?.full === true) return "again";
      if (outcome?.nextAt === undefined || outcome.nextAt === null) return POLL_MS;
      const waitMs = outcome.nextAt.getTime() - now().getTime();
      return Math.min(waitMs > 0 ? waitMs : BUSY_MS, POLL_MS);
    },
  });
}

/**
 * Null when the poll failed; the next one comes after the usual pause. The loop's own pause grows with
 * each failure. It would outlast an outage by more than a firing may be late.
 */
async function pollSafely(poll: () => Promise<Poll>, logger: Logger): Promise<Poll | null> {
  try {
    return await poll();
  } catch (error) {
    logger.warn({ err: error }, "could not fire schedules");
    return null;
  }
}
