import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { RUN_STATUSES, statusesBefore, TRIGGER_TYPES } from "../domain/run-status.ts";
import { oldestRun } from "./oldest-run.ts";

const cancelledRow = z.object({
  id: z.string(),
  companyId: z.string(),
  workflowId: z.string(),
  workflowName: z.string(),
  workflowVersion: z.number(),
  triggerType: z.enum(TRIGGER_TYPES),
  scheduleId: z.string().nullable(),
  waitingParentRunId: z.string().nullable(),
  limited: z.boolean(),
  hasSyncWaiter: z.boolean(),
  traceparent: z.string().nullable(),
  createdAt: z.date(),
  startedAt: z.date().nullable(),
  completedAt: z.date(),
  statusBefore: z.enum(RUN_STATUSES),
});
const idRow = z.object({ id: z.string() });

/** A run as the cancellation left it. */
export type CancelledRow = z.infer<typeof cancelledRow>;

/** Cancels those of the runs that have not ended, and returns them. */
export async function cancelRuns(
  transaction: Transaction,
  runIds: readonly string[],
): Promise<readonly CancelledRow[]> {
  return transaction.any(sql.prepared("runs_cancel", cancelledRow)`
    with before as materialized (
      select id, status from runs.runs
      where id = any(${sql.array([...runIds], "text")}) and id >= ${oldestRun(runIds)}
      order by id
      for update
    )
    update runs.runs as run
    set status = 'cancelled', completed_at = greatest(now(), run.started_at, run.created_at)
    from runs.deployments as deployment, before
    where before.id = run.id
      and run.status = any(${sql.array(statusesBefore("cancelled"), "text")})
      and deployment.id = run.deployment_id
    returning run.id, run.company_id as "companyId", run.workflow_id as "workflowId",
      deployment.name as "workflowName",
      run.workflow_version as "workflowVersion", run.trigger_type as "triggerType",
      run.schedule_id as "scheduleId",
      case when run.parent_waits then run.parent_run_id end as "waitingParentRunId",
      (deployment.settings ->> 'concurrency') is not null as limited,
      run.awaited as "hasSyncWaiter", run.traceparent, run.created_at as "createdAt", run.started_at as "startedAt",
      run.completed_at as "completedAt",
      before.status as "statusBefore"
  `);
}

/** Live runs that one of the given runs waits for, or waited for. */
export async function listLiveChildren(
  queryable: Queryable,
  parentRunIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await queryable.any(sql.prepared("run_live_children", idRow)`
    select id from runs.runs
    where parent_run_id = any(${sql.array([...parentRunIds], "text")})
      and parent_waits and completed_at is null
  `);
  return rows.map(({ id }) => id);
}
