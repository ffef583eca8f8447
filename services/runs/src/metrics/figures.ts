import { loop } from "@workflow/async";
import type { Database } from "@workflow/db";
import { gaugeIn } from "@workflow/service";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { LIVE_STATUSES } from "../domain/run-status.ts";
import { DEFAULT_POOL } from "../domain/worker-pool.ts";
import { countLiveRuns } from "../store/engine-figures.ts";
import { measurePools } from "../store/worker-pools.ts";

/** The longest age of a figure, however often it is scraped. */
const TASKS_INTERVAL_MS = 5_000;
const LIVE_INTERVAL_MS = 30_000;
/** Most due tasks that are counted: more are no better. Counting takes about 2 ms. */
const DUE_MAX = 10_000;
/** Most live runs that are counted by status. Counting takes Postgres about 100 ms. */
const LIVE_MAX = 20_000;

/** The dependencies of the measurements. */
interface FiguresOptions {
  /** The pool that this worker serves; the default one by default. */
  workerPool: string | undefined;
  database: Database;
  registry: Registry;
  logger: Logger;
}

/**
 * Measures at intervals what work is left for all workers together, until the signal. The queries are
 * bounded and never delay a scrape. The figures are the same in each process. An unknown figure is
 * absent: alerts check for absence.
 *
 * @returns resolves when it has stopped
 */
export async function watchFigures(options: FiguresOptions, signal: AbortSignal): Promise<void> {
  await Promise.all([watchTasks(options, signal), watchLiveRuns(options, signal)]);
}

function watchTasks(
  { workerPool = DEFAULT_POOL, database, registry, logger }: FiguresOptions,
  signal: AbortSignal,
) {
  gaugeIn(registry, {
    name: "runs_pool_workers",
    help: "1 for the pool that this worker serves: their sum is how many workers a pool has.",
    labelNames: ["pool"],
  }).set({ pool: workerPool }, 1);
  const due = gaugeIn(registry, {
    name: "runs_due_tasks",
    help: `Tasks of all companies that are due, counted up to ${DUE_MAX}; the same in each worker.`,
  });
  const oldest = gaugeIn(registry, {
    name: "runs_oldest_due_task_age_seconds",
    help: "For how long the oldest due task has been due; the same in each worker.",
  });
  const postponed = gaugeIn(registry, {
    name: "runs_postponed_tasks",
    help: "Tasks whose tries came to nothing, with a pause before the next that grows; the same in each worker.",
  });
  const dueInPool = gaugeIn(registry, {
    name: "runs_pool_due_tasks",
    help: `Tasks that are due, by pool of workers, counted up to ${DUE_MAX}; the same in each worker.`,
    labelNames: ["pool"],
  });
  const oldestInPool = gaugeIn(registry, {
    name: "runs_pool_oldest_due_task_age_seconds",
    help: "For how long the oldest due task of a pool has been due; the same in each worker.",
    labelNames: ["pool"],
  });
  const forget = (): void => {
    for (const gauge of [due, oldest, postponed]) gauge.remove();
    for (const gauge of [dueInPool, oldestInPool]) gauge.reset();
  };
  forget();
  return loop({
    name: "measure-tasks",
    signal,
    intervalMs: TASKS_INTERVAL_MS,
    logger,
    run: async () => {
      const asked = { served: workerPool, limit: DUE_MAX };
      const measured = await measurePools(database, asked).catch((error: unknown) => {
        forget();
        throw error;
      });
      // A pool without tasks, rules and this worker is dropped from the metrics.
      for (const gauge of [dueInPool, oldestInPool]) gauge.reset();
      for (const figures of measured) {
        const { pool } = figures;
        dueInPool.set({ pool }, figures.due);
        oldestInPool.set({ pool }, figures.oldestAgeSeconds);
      }
      due.set(Math.min(DUE_MAX, sumOf(measured.map((each) => each.due))));
      oldest.set(Math.max(...measured.map(({ oldestAgeSeconds }) => oldestAgeSeconds)));
      postponed.set(sumOf(measured.map((each) => each.postponed)));
    },
  }).done;
}

function watchLiveRuns({ database, registry, logger }: FiguresOptions, signal: AbortSignal) {
  const live = gaugeIn(registry, {
    name: "runs_live",
    help: `Live runs by status, the first ${LIVE_MAX} of them; the same in each worker.`,
    labelNames: ["status"],
  });
  const oldest = gaugeIn(registry, {
    name: "runs_oldest_live_age_seconds",
    help: "Age of the oldest of them, by status; the same in each worker.",
    labelNames: ["status"],
  });
  return loop({
    name: "count-live-runs",
    signal,
    intervalMs: LIVE_INTERVAL_MS,
    logger,
    run: async () => {
      const counts = await countLiveRuns(database, LIVE_MAX).catch((error: unknown) => {
        for (const gauge of [live, oldest]) gauge.reset();
        throw error;
      });
      for (const status of LIVE_STATUSES) {
        const { runs = 0, oldestAgeSeconds = 0 } = counts.get(status) ?? {};
        live.set({ status }, runs);
        oldest.set({ status }, oldestAgeSeconds);
      }
    },
  }).done;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
