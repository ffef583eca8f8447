import { loop } from "@workflow/service";
import type { Logger } from "pino";
import { cancelWaitedChildren } from "../operations/cancel-children.ts";
import type { CancelContext } from "../operations/cancel-runs.ts";
import { listParentsOfOrphans } from "../store/child-runs.ts";
import { deleteOldEvents } from "../store/triggering-events.ts";
import type { WakeUps } from "./wake-ups.ts";

const WAKE_UPS_INTERVAL_MS = 1_000;
const ORPHANS_INTERVAL_MS = 5_000;
const ORPHANS_MAX = 100;
const EVENTS_INTERVAL_MS = 60_000;
const EVENTS_BATCH = 5_000;

/**
 * Finishes what a process that died has left undone: wake-ups that it noted, and children of runs
 * that it ended. Where nothing died there is nothing to do. It also forgets events that are over.
 *
 * @returns resolves when all of it has stopped after the signal
 */
export async function runUpkeep(
  context: CancelContext & { wakeUps: WakeUps; logger: Logger },
  signal: AbortSignal,
): Promise<void> {
  const { database, logger, wakeUps } = context;
  const waking = loop({
    name: "deliver-wake-ups",
    signal,
    intervalMs: WAKE_UPS_INTERVAL_MS,
    logger,
    run: () => wakeUps.deliver(),
  });
  const orphans = loop({
    name: "cancel-orphans",
    signal,
    intervalMs: ORPHANS_INTERVAL_MS,
    logger,
    run: async () => {
      const parents = await listParentsOfOrphans(database, ORPHANS_MAX);
      if (parents.length > 0) await cancelWaitedChildren(context, parents);
    },
  });
  const events = loop({
    name: "forget-triggering-events",
    signal,
    intervalMs: EVENTS_INTERVAL_MS,
    logger,
    run: async () => {
      while ((await deleteOldEvents(database, EVENTS_BATCH)) === EVENTS_BATCH);
    },
  });
  await Promise.all([waking.done, orphans.done, events.done]);
}
