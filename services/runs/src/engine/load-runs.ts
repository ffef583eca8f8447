import type { Database } from "@workflow/db";
import type { RunHistory } from "../journal/run-history.ts";
import { acquireRuns } from "../store/load-runs.ts";
import type { ExecutableRow } from "../store/load-runs.ts";
import type { NewRun } from "../store/start-runs.ts";
import type { Lease } from "../task-runtime/port.ts";
import type { RuntimeWorker } from "../task-runtime/runtime.ts";
import { emptyHistory } from "./load-history.ts";

/** A run, and what earlier executions of it have written. */
export interface LoadedRun {
  row: ExecutableRow;
  /** The run's input, if it is parsed already. */
  inputValue?: unknown;
  history: RunHistory;
}

/** A run that was just stored and has not been executed. */
export function toLoadedRun(run: NewRun): LoadedRun {
  const { parent } = run;
  return {
    row: {
      id: run.id,
      companyId: run.companyId,
      workflowId: run.workflowId,
      deploymentId: run.deploymentId,
      workflowVersion: run.workflowVersion,
      status: "pending",
      triggerType: run.triggerType,
      triggerData: run.triggerData,
      scheduleId: run.scheduleId,
      parentRunId: parent?.runId ?? null,
      parentWaits: parent?.waits ?? false,
      depth: parent?.depth ?? 0,
      triggerDepth: run.triggerDepth,
      rootRunId: run.rootRunId,
      connectionId: run.connectionId,
      startFault: run.startFault,
      restartedFromRunId: null,
      input: run.input,
      hasSyncWaiter: run.hasSyncWaiter,
      requestId: run.requestId,
      traceparent: run.traceparent,
      activeMs: 0,
      activeSinceMs: null,
      createdAt: run.createdAt,
      startedAt: null,
    },
    inputValue: run.inputValue,
    history: emptyHistory(),
  };
}

/** Acquires runs and loads them, without their history. */
export async function loadRuns(
  database: Database,
  worker: RuntimeWorker,
  leases: readonly Lease[],
): Promise<Map<string, LoadedRun>> {
  const rows = await acquire(database, worker, leases);
  return new Map(rows.map((row) => [row.id, { row, history: emptyHistory() }]));
}

/** Begins the executions, with one statement where the tasks lie beside the runs. */
async function acquire(
  database: Database,
  worker: RuntimeWorker,
  leases: readonly Lease[],
): Promise<readonly ExecutableRow[]> {
  const { settling } = worker;
  if (settling !== undefined) return acquireRuns(database, leases, settling.beginCte(leases));
  const begun = await worker.begin(leases);
  return acquireRuns(
    database,
    leases.filter(({ runId }) => begun.has(runId)),
  );
}

/**
 * Whether anything was written of a run. A run that repeats another has results before it begins (D27).
 */
export function hasHistory({ row }: LoadedRun): boolean {
  return row.startedAt !== null || row.restartedFromRunId !== null;
}

/**
 * How long a run was executed before, in milliseconds. The time of a worker that died counts until its
 * lease ran out: after that nobody executed the run.
 */
export function activeMsOf(
  { activeMs, activeSinceMs }: ExecutableRow,
  { idleMs }: Pick<Lease, "idleMs">,
): number {
  return activeMs + (activeSinceMs === null ? 0 : Math.max(0, activeSinceMs - idleMs));
}
