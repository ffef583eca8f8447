import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { RUN_STATUSES, statusesBefore, TRIGGER_TYPES } from "../domain/run-status.ts";

const cancelledRow = z.object({
  id: z.string(),
  company_id: z.string(),
  workflow_id: z.string(),
  workflow_name: z.string(),
  workflow_version: z.number(),
  trigger_type: z.enum(TRIGGER_TYPES),
  schedule_id: z.string().nullable(),
  waiting_parent_run_id: z.string().nullable(),
  limited: z.boolean(),
  awaited: z.boolean(),
  created_at: z.date(),
  started_at: z.date().nullable(),
  completed_at: z.date(),
  status_before: z.enum(RUN_STATUSES),
});
const idRow = z.object({ id: z.string() });

/** A run as the cancellation left it. */
export type CancelledRow = z.infer<typeof cancelledRow>;

/** Ends runs as cancelled, those that have not ended, and returns them. */
export async function cancelRuns(
  transaction: Transaction,
  runIds: readonly string[],
): Promise<readonly CancelledRow[]> {
  return transaction.any(sql.type(cancelledRow)`
    update runs.runs as run
    set status = 'cancelled', completed_at = greatest(now(), run.started_at, run.created_at)
    from runs.deployments as deployment, runs.runs as before
    where before.id = run.id and run.id = any(${sql.array([...runIds], "text")})
      and run.status = any(${sql.array(statusesBefore("cancelled"), "text")})
      and deployment.id = run.deployment_id
    returning run.id, run.company_id, run.workflow_id, deployment.name as workflow_name,
      run.workflow_version, run.trigger_type, run.schedule_id,
      case when run.parent_waits then run.parent_run_id end as waiting_parent_run_id,
      (deployment.settings ->> 'concurrency') is not null as limited,
      run.awaited, run.created_at, run.started_at, run.completed_at,
      before.status as status_before
  `);
}

/** Runs that have not ended and that one of the given runs waits for, or did. */
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
