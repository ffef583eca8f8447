import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { CancelRunRequest, Run } from "@workflow/proto/runs/v1/runs";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { insertEvents } from "@workflow/events";
import type { ServiceContext } from "../context.ts";
import { ENDED_CHANNEL } from "../engine/ended-runs.ts";
import { runEvent } from "../engine/run-events.ts";
import { cancelRun as cancelRow } from "../store/end-run.ts";
import type { CancelledRow } from "../store/end-run.ts";
import { findRun, listStepResults } from "../store/read-runs.ts";
import { deleteOpenStepsOf } from "../store/write-journal.ts";
import { notify } from "../store/notify.ts";
import { runNotFound } from "./get-run.ts";
import { toRunMessage } from "./run-message.ts";

/** Ends a run that has not ended; the worker that executes it is told to stop. */
export function cancelRun(context: ServiceContext): UnaryMethod<CancelRunRequest, Run> {
  const { database, runtime, endedRuns, onEvents } = context;
  return rpc({
    scopes: "workflows:execute",
    async handler({ runId }, { identity, requestId }) {
      if (!isId("run_", runId)) throw runNotFound();
      const { companyId } = identity;
      const before = await findRun(database, companyId, runId);
      if (before === null) throw runNotFound();
      const cancelled = await database.transaction(async (transaction) => {
        // The task first, in the order in which workers lock.
        await runtime.cancel(transaction, [runId]);
        const row = await cancelRow(transaction, companyId, runId);
        if (row === null) return null;
        await deleteOpenStepsOf(transaction, [runId]);
        await insertEvents(transaction, "runs", [cancelledEvent(row, requestId)]);
        if (row.awaited) await notify(transaction, ENDED_CHANNEL, runId);
        return row;
      });
      const run = await findRun(database, companyId, runId);
      if (run === null) throw runNotFound();
      if (cancelled === null) {
        throw new AppError("INVALID_STATE", `The run is ${run.status} and cannot be cancelled.`, {
          details: { currentStatus: run.status },
        });
      }
      onEvents();
      endedRuns.announce([runId]);
      return toRunMessage(run, await listStepResults(database, runId));
    },
  });
}

function cancelledEvent(row: CancelledRow, requestId: string) {
  const facts = {
    id: row.id,
    companyId: row.company_id,
    workflowId: row.workflow_id,
    workflowName: row.workflow_name,
    workflowVersion: row.workflow_version,
    triggerType: row.trigger_type,
    requestId,
    createdAt: row.created_at,
    startedAt: row.started_at,
  };
  return runEvent("workflow.cancelled", facts, {
    status: "cancelled",
    completedAt: row.completed_at,
  });
}
