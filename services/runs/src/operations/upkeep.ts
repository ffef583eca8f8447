import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { loop } from "@workflow/async";
import { listParentsOfOrphans } from "../store/child-runs.ts";
import { PoolKeeper } from "./keep-pools.ts";
import { Reconciler } from "./reconciler.ts";
import { deleteEndedFamilies } from "../store/run-families.ts";
import { deleteOldEvents } from "../store/triggering-events.ts";
import { cancelGivenUp } from "./cancel-given-up.ts";
import { cancelWaitedChildren } from "./cancel-children.ts";
import type { CancelContext } from "./cancel-runs.ts";

const WAKE_UPS_INTERVAL_MS = 1_000;
const ORPHANS_INTERVAL_MS = 5_000;
const ORPHANS_MAX = 100;
const EVENTS_INTERVAL_MS = 60_000;
const EVENTS_BATCH = 5_000;
const RECONCILE_INTERVAL_MS = 30_000;
const POOLS_INTERVAL_MS = 5_000;
const FAMILIES_INTERVAL_MS = 60_000;
const FAMILIES_BATCH = 1_000;
/** Batches of a round, each of some milliseconds. The next round goes on there. */
const FAMILIES_BATCHES = 10;

/** What upkeep needs. */
export interface UpkeepContext extends CancelContext {
  logger: Logger;
  metricsRegistry?: Registry | undefined;
  reconcileIntervalMs?: number | undefined;
}

/**
 * Finishes what a dead process has left undone: noted wake-ups, children of runs that it ended, and runs
 * that it gave up. It also reconciles tables, and deletes old event claims and the families of removed
 * runs.
 *
 * @returns resolves when all of it has stopped after the signal
 */
export async function runUpkeep(context: UpkeepContext, signal: AbortSignal): Promise<void> {
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
      await cancelGivenUp(context);
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
  const reconciler = new Reconciler(context);
  const reconciling = loop({
    name: "reconcile",
    signal,
    intervalMs: context.reconcileIntervalMs ?? RECONCILE_INTERVAL_MS,
    logger,
    run: () => reconciler.round(signal),
  });
  const keeper = new PoolKeeper(database);
  const pools = loop({
    name: "keep-worker-pools",
    signal,
    intervalMs: POOLS_INTERVAL_MS,
    logger,
    run: async () => {
      const moved = await keeper.round(signal);
      if (moved > 0) logger.info({ moved }, "tasks follow the rules of worker pools");
    },
  });
  let familiesAfter: string | null = null;
  const families = loop({
    name: "forget-families",
    signal,
    intervalMs: FAMILIES_INTERVAL_MS,
    logger,
    run: async () => {
      for (let batch = 0; batch < FAMILIES_BATCHES && !signal.aborted; batch += 1) {
        familiesAfter = await deleteEndedFamilies(database, familiesAfter ?? "", FAMILIES_BATCH);
        if (familiesAfter === null) return;
      }
    },
  });
  const loops = [waking, orphans, events, reconciling, pools, families];
  await Promise.all(loops.map(({ done }) => done));
}
