import { databaseErrorToAppError } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import type { StepEffects } from "../interpreter/effects.ts";
import type { SecretsClient } from "../secrets/resolve-secrets.ts";
import { isTerminal } from "../domain/run-status.ts";
import { notify } from "../store/notify.ts";
import type { Lease, RuntimeWorker, TaskRuntime } from "../task-runtime/port.ts";
import type { Deployment, DeploymentCache } from "./deployment-cache.ts";
import type { EndedRuns } from "./ended-runs.ts";
import { ENDED_CHANNEL, endedPayloads } from "./ended-runs.ts";
import type { EndHook } from "./end-hooks.ts";
import { executeRun } from "./execute-run.ts";
import type { JournalEntry } from "./journal.ts";
import { createJournalWriter } from "./journal-writer.ts";
import { loadRuns } from "./load-runs.ts";
import type { LoadedRun } from "./load-runs.ts";
import type { WakeUps } from "./wake-ups.ts";

/** What a worker needs. */
export interface RunWorkerOptions {
  database: Database;
  runtime: TaskRuntime;
  deployments: DeploymentCache;
  effects: StepEffects;
  secrets: SecretsClient;
  endedRuns: EndedRuns;
  endHooks: readonly EndHook[];
  wakeUps: WakeUps;
  /** Cancels the runs that runs which have just ended badly were waiting for. */
  cancelChildrenOf: (runIds: readonly string[]) => void;
  /** Called after commits that put events into the outbox. */
  onEvents: () => void;
  logger: Logger;
  concurrency: number;
}

/** Executes runs in this process until stopped. */
export async function startRunWorker(options: RunWorkerOptions): Promise<RuntimeWorker> {
  const { database, deployments, runtime, endedRuns, logger } = options;
  /** Leases of runs whose end a caller waits for. */
  const awaited = new WeakSet<Lease>();

  const onCommitted = (entries: readonly JournalEntry[]): void => {
    if (entries.some((entry) => entry.events.length > 0)) options.onEvents();
    const endings = entries.flatMap((entry) => entry.ended ?? []);
    if (endings.some((run) => run.waitingParentRunId !== null || run.limited)) {
      options.wakeUps.deliverSoon();
    }
    const parents = entries.filter(
      ({ waitsForRuns, ended }) => waitsForRuns && ended !== null && ended.status !== "completed",
    );
    if (parents.length > 0) options.cancelChildrenOf(parents.map(({ lease }) => lease.runId));
    const ended = entries.filter((entry) => entry.next === "done" && awaited.has(entry.lease));
    if (ended.length === 0) return;
    for (const { lease, run } of ended) endedRuns.announceEnd(lease.runId, run);
    for (const payload of endedPayloads(ended.map(({ lease }) => lease.runId))) {
      notify(database, ENDED_CHANNEL, payload).catch((error: unknown) => {
        logger.warn({ err: error }, "could not announce ended runs");
      });
    }
  };

  const loadBatch = async (leases: readonly Lease[]): Promise<LoadedBatch> => {
    const runs = await loadRuns(database, leases);
    const ids = [...runs.values()].map(({ row }) => row.deployment_id);
    return { runs, deployments: await deployments.getMany(ids) };
  };

  const executeBatch = async (
    leases: readonly Lease[],
    finished: (lease: Lease) => void,
  ): Promise<void> => {
    let batch: LoadedBatch;
    try {
      batch = await loadBatch(leases);
    } catch (error) {
      const cause = databaseErrorToAppError(error);
      logger.error({ err: cause, runs: leases.length }, "could not load runs");
      // One run that cannot be loaded must not hold up the others.
      const oneByOne = leases.length > 1 && cause.reason !== "UNAVAILABLE";
      for (const lease of leases) {
        if (oneByOne) await executeBatch([lease], finished);
        else finished(lease);
      }
      return;
    }
    for (const lease of leases) {
      const run = batch.runs.get(lease.runId);
      const deployment =
        run === undefined ? undefined : batch.deployments.get(run.row.deployment_id);
      if (run === undefined || deployment === undefined) {
        logger.error({ runId: lease.runId }, "a task without a run or deployment");
        finished(lease);
      } else if (isTerminal(run.row.status)) {
        // Cancelled after the task was claimed; the task is gone.
        finished(lease);
      } else {
        if (run.row.awaited) awaited.add(lease);
        const execution = { ...options, lease, deployment, write: journal.write, ...run };
        void executeRun(execution).finally(() => finished(lease));
      }
    }
  };

  const worker = await runtime.startWorker({
    concurrency: options.concurrency,
    execute: (leases, finished) => void executeBatch(leases, finished),
  });
  const journal = createJournalWriter({
    database,
    worker,
    logger,
    endHooks: options.endHooks,
    onCommitted,
  });
  return worker;
}

interface LoadedBatch {
  runs: Map<string, LoadedRun>;
  deployments: Map<string, Deployment>;
}
