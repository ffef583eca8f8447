import { insertEvents } from "@workflow/events";
import type { NewEvent } from "@workflow/events";
import type { Database, Transaction } from "@workflow/db";
import type { EndedRun } from "../domain/ended-run.ts";
import { ENDED_CHANNEL, endedPayloads } from "../engine/ended-runs.ts";
import type { EndedRuns } from "../engine/ended-runs.ts";
import type { WakeUps } from "../engine/wake-ups.ts";
import { runEndHooks } from "../journal/end-hooks.ts";
import type { EndHook } from "../journal/end-hooks.ts";
import { endedEvent } from "../journal/run-events.ts";
import { cancelWaitingApprovals } from "../store/approvals.ts";
import { cancelRuns as cancelRows } from "../store/end-run.ts";
import type { CancelledRow } from "../store/end-run.ts";
import { notify } from "../store/notify.ts";
import { deleteOpenStepsOf } from "../store/write-journal.ts";
import type { TaskRuntime } from "../task-runtime/runtime.ts";

/** The dependencies of cancelling. */
export interface CancelContext {
  database: Database;
  runtime: TaskRuntime;
  endedRuns: EndedRuns;
  /** The further writes at the ends of runs. The hooks are called in this order. */
  endHooks: readonly EndHook[];
  wakeUps: WakeUps;
  /** Called after each commit that puts events into the outbox. */
  onEvents: () => void;
}

/** Called in the transaction that has cancelled the runs. */
type RecordCancelled = (
  transaction: Transaction,
  cancelled: readonly CancelledRow[],
) => Promise<void>;

const BATCH_MAX = 100;

/**
 * Cancels those of the runs that have not ended, with all that depends on them, and returns their ids. A
 * worker that executes one is told to stop, and can no longer write.
 *
 * @param runIds runs that the caller may cancel
 * @param requestId the request that causes it, passed on into the events; null when none does
 * @param record writes more in the same transaction
 */
export async function cancelRuns(
  context: CancelContext,
  runIds: readonly string[],
  requestId: string | null,
  record: RecordCancelled = async () => {},
): Promise<string[]> {
  const cancelled: string[] = [];
  // All callers use one order, so that two who cancel the same runs do not wait for each other.
  const sorted = runIds.toSorted();
  for (let start = 0; start < sorted.length; start += BATCH_MAX) {
    const batch = sorted.slice(start, start + BATCH_MAX);
    cancelled.push(...(await cancelBatch(context, batch, requestId, record)));
  }
  return cancelled;
}

async function cancelBatch(
  { database, runtime, endedRuns, endHooks, onEvents, wakeUps }: CancelContext,
  runIds: readonly string[],
  requestId: string | null,
  record: RecordCancelled,
): Promise<string[]> {
  const cancelled = await database.transaction(async (transaction) => {
    // The tasks come first, in the order in which workers lock.
    await runtime.cancel(transaction, runIds);
    const rows = await cancelRows(transaction, runIds);
    if (rows.length === 0) return [];
    const ids = rows.map(({ id }) => id);
    await deleteOpenStepsOf(transaction, ids);
    await cancelWaitingApprovals(transaction, ids);
    const ended = rows.map(toEndedRun);
    await runEndHooks(transaction, endHooks, ended);
    await insertEvents(
      transaction,
      "runs",
      rows.map((row) => cancelledEvent(row, requestId)),
    );
    await record(transaction, rows);
    const awaited = rows.filter((row) => row.hasSyncWaiter).map(({ id }) => id);
    for (const payload of endedPayloads(awaited)) {
      await notify(transaction, ENDED_CHANNEL, payload);
    }
    return ids;
  });
  if (cancelled.length > 0) {
    onEvents();
    endedRuns.announce(cancelled);
    wakeUps.deliverSoon();
  }
  return cancelled;
}

function toEndedRun(row: CancelledRow): EndedRun {
  return {
    runId: row.id,
    workflowId: row.workflowId,
    status: "cancelled",
    error: null,
    triggerType: row.triggerType,
    scheduleId: row.scheduleId,
    waitingParentRunId: row.waitingParentRunId,
    limited: row.limited,
  };
}

function cancelledEvent(row: CancelledRow, requestId: string | null): NewEvent {
  const facts = {
    id: row.id,
    companyId: row.companyId,
    workflowId: row.workflowId,
    workflowName: row.workflowName,
    workflowVersion: row.workflowVersion,
    triggerType: row.triggerType,
    requestId,
    traceparent: row.traceparent,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
  };
  const { completedAt } = row;
  return endedEvent(facts, { status: "cancelled", completedAt, error: null });
}
