import { databaseErrorToAppError } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { SafeHttpClient } from "@workflow/http-client";
import type { Logger } from "pino";
import type { ExpressionPool } from "../expressions/expression-pool.ts";
import type { OpenStep } from "./journal.ts";
import type { PastResult, RunHistory } from "../interpreter/run-journal.ts";
import { listExecutableRuns, listOpenSteps, listPastResults } from "../store/load-runs.ts";
import type { ExecutableRow } from "../store/load-runs.ts";
import { notify } from "../store/notify.ts";
import type { Lease, RuntimeWorker, TaskRuntime } from "../task-runtime/port.ts";
import type { DeploymentCache } from "./deployment-cache.ts";
import type { EndedRuns } from "./ended-runs.ts";
import { ENDED_CHANNEL, endedPayloads } from "./ended-runs.ts";
import { executeRun } from "./execute-run.ts";
import type { JournalEntry } from "./journal.ts";
import { createJournalWriter } from "./journal-writer.ts";

/** What a worker needs. */
export interface RunWorkerOptions {
  database: Database;
  runtime: TaskRuntime;
  deployments: DeploymentCache;
  http: SafeHttpClient;
  expressions: ExpressionPool;
  endedRuns: EndedRuns;
  /** Called after commits that put events into the outbox. */
  onEvents: () => void;
  logger: Logger;
  concurrency: number;
}

/** Executes runs in this process until stopped. */
export async function startRunWorker(options: RunWorkerOptions): Promise<RuntimeWorker> {
  const { database, deployments, runtime, endedRuns, logger } = options;
  const awaited = new Set<string>();

  const onCommitted = (entries: readonly JournalEntry[]): void => {
    if (entries.some((entry) => entry.events.length > 0)) options.onEvents();
    const ended = entries
      .filter((entry) => entry.next === "done" && awaited.delete(entry.lease.runId))
      .map((entry) => entry.lease.runId);
    if (ended.length === 0) return;
    endedRuns.announce(ended);
    for (const payload of endedPayloads(ended)) {
      notify(database, ENDED_CHANNEL, payload).catch((error: unknown) => {
        logger.warn({ err: error }, "could not announce ended runs");
      });
    }
  };

  const executeBatch = async (
    leases: readonly Lease[],
    finished: (lease: Lease) => void,
  ): Promise<void> => {
    let runs: Map<string, LoadedRun>;
    try {
      runs = await loadRuns(database, leases);
      const loaded = await deployments.getMany([...runs.values()].map(({ row }) => row.deployment_id));
      for (const lease of leases) {
        const run = runs.get(lease.runId);
        const deployment = run === undefined ? undefined : loaded.get(run.row.deployment_id);
        if (run === undefined || deployment === undefined) {
          logger.error({ runId: lease.runId }, "a task without a run or deployment");
          finished(lease);
          continue;
        }
        if (run.row.awaited) awaited.add(lease.runId);
        void executeRun({ ...options, lease, deployment, write: journal.write, ...run }).finally(() => {
          awaited.delete(lease.runId);
          finished(lease);
        });
      }
    } catch (error) {
      logger.warn({ err: databaseErrorToAppError(error) }, "could not load runs");
      for (const lease of leases) finished(lease);
    }
  };

  const worker = await runtime.startWorker({
    concurrency: options.concurrency,
    execute: (leases, finished) => void executeBatch(leases, finished),
  });
  const journal = createJournalWriter({ database, worker, logger, onCommitted });
  return worker;
}

/** A run and what earlier executions of it have written. */
export interface LoadedRun {
  row: ExecutableRow;
  history: RunHistory;
}

/** Loads runs with at most three queries, whatever their number. */
async function loadRuns(
  database: Database,
  leases: readonly Lease[],
): Promise<Map<string, LoadedRun>> {
  const rows = await listExecutableRuns(database, leases.map((lease) => lease.runId));
  const begun = rows.filter((row) => row.started_at !== null).map((row) => row.id);
  const [results, open] =
    begun.length === 0
      ? [[], []]
      : await Promise.all([listPastResults(database, begun), listOpenSteps(database, begun)]);
  const resultsByRun = Map.groupBy(results, (result) => result.run_id);
  const openByRun = Map.groupBy(open, (step) => step.run_id);
  return new Map(
    rows.map((row) => {
      const past = resultsByRun.get(row.id) ?? [];
      const waiting = openByRun.get(row.id) ?? [];
      const seqs = [...past, ...waiting].map(({ seq }) => seq);
      const history: RunHistory = {
        results: new Map(
          past.map((result): [string, PastResult] => [
            result.path,
            {
              status: result.status,
              output: result.output === null ? null : JSON.parse(result.output),
              error: result.error as PastResult["error"],
            },
          ]),
        ),
        open: new Map(
          waiting.map((step): [string, OpenStep] => [
            step.path,
            {
              path: step.path,
              seq: step.seq,
              startedAt: step.started_at,
              dueAt: step.due_at,
              attempt: step.attempt,
              attemptGroup: step.attempt_group,
              previousAttempts: (step.previous_attempts ?? []) as OpenStep["previousAttempts"],
            },
          ]),
        ),
        nextSeq: seqs.reduce((highest, seq) => Math.max(highest, seq), 0) + 1,
        // A worker that died was executing the run all the while.
        activeMs:
          row.active_ms +
          (row.active_since === null ? 0 : Math.max(0, Date.now() - row.active_since.getTime())),
      };
      return [row.id, { row, history }];
    }),
  );
}
