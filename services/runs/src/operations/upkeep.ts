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

/** The dependencies of upkeep. */
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
  const { logger } = context;
  const chores = [...mendingChores(context), ...cleaningChores(context, signal)];
  const loops = chores.map((chore) => loop({ ...chore, logger, signal }));
  await Promise.all(loops.map(({ done }) => done));
}

/** Work that is repeated at an interval. */
interface Chore {
  name: string;
  intervalMs: number;
  run: () => Promise<void>;
}

/** What goes on with work that a dead process has left. */
function mendingChores(context: UpkeepContext): Chore[] {
  const { database, wakeUps } = context;
  return [
    {
      name: "deliver-wake-ups",
      intervalMs: WAKE_UPS_INTERVAL_MS,
      run: () => wakeUps.deliver(),
    },
    {
      name: "cancel-orphans",
      intervalMs: ORPHANS_INTERVAL_MS,
      run: async () => {
        const parents = await listParentsOfOrphans(database, ORPHANS_MAX);
        if (parents.length > 0) await cancelWaitedChildren(context, parents);
        await cancelGivenUp(context);
      },
    },
  ];
}

/** What keeps tables consistent and small. */
function cleaningChores(context: UpkeepContext, signal: AbortSignal): Chore[] {
  const { database, logger } = context;
  const reconciler = new Reconciler(context);
  const keeper = new PoolKeeper(database);
  let familiesAfter: string | null = null;
  return [
    {
      name: "forget-triggering-events",
      intervalMs: EVENTS_INTERVAL_MS,
      run: async () => {
        while ((await deleteOldEvents(database, EVENTS_BATCH)) === EVENTS_BATCH);
      },
    },
    {
      name: "reconcile",
      intervalMs: context.reconcileIntervalMs ?? RECONCILE_INTERVAL_MS,
      run: () => reconciler.round(signal),
    },
    {
      name: "keep-worker-pools",
      intervalMs: POOLS_INTERVAL_MS,
      run: async () => {
        const moved = await keeper.round(signal);
        if (moved > 0) logger.info({ moved }, "tasks follow the rules of worker pools");
      },
    },
    {
      name: "forget-families",
      intervalMs: FAMILIES_INTERVAL_MS,
      run: async () => {
        for (let batch = 0; batch < FAMILIES_BATCHES && !signal.aborted; batch += 1) {
          familiesAfter = await deleteEndedFamilies(database, familiesAfter ?? "", FAMILIES_BATCH);
          if (familiesAfter === null) return;
        }
      },
    },
  ];
}
