import { loop } from "@workflow/service";
import { fireDueSchedules } from "./fire-due-schedules.ts";
import type { FiringDependencies, Look } from "./fire-due-schedules.ts";

/** What a scheduler needs. */
export interface SchedulerOptions extends FiringDependencies {
  /** The clock by which schedules fire. */
  now: () => Date;
}

/** A running scheduler. */
export interface Scheduler {
  /** Finishes the firing that is under way. */
  stop(): Promise<void>;
}

/** The longest time between two looks, so that it finds what other processes have planned. */
const LOOK_MS = 1_000;
/** The pause before looking again at what another process is just firing. */
const BUSY_MS = 50;

/**
 * Starts runs when their schedules say so. Any number of schedulers may work on one database: each
 * firing is one's. It wakes at the moment of the next firing, and looks every second besides.
 */
export function startScheduler(options: SchedulerOptions): Scheduler {
  const { logger, now } = options;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const looking = loop({
    name: "fire-schedules",
    signal: stopping.signal,
    intervalMs: LOOK_MS,
    logger,
    async run() {
      clearTimeout(timer);
      const look = await lookSafely(options);
      if (look?.full === true) return "again";
      const nextAt = look?.nextAt ?? null;
      if (nextAt !== null && !stopping.signal.aborted) {
        const waitMs = nextAt.getTime() - now().getTime();
        timer = setTimeout(() => looking.wake(), waitMs > 0 ? waitMs : BUSY_MS);
      }
      return undefined;
    },
  });
  return {
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await looking.done;
      clearTimeout(timer);
    },
  };
}

/**
 * Null when it failed; the next look comes after the usual pause. The loop's own pause after failures
 * grows, and would outlast an outage by more than a firing may be late.
 */
async function lookSafely(options: SchedulerOptions): Promise<Look | null> {
  try {
    return await fireDueSchedules(options, options.now(), LOOK_MS);
  } catch (error) {
    options.logger.warn({ err: error }, "could not fire schedules");
    return null;
  }
}
