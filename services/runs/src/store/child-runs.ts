import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { RUN_STATUSES } from "../domain/run-status.ts";

const idRow = z.object({ id: z.string() });
const childRow = z.object({
  id: z.string(),
  status: z.enum(RUN_STATUSES),
  output: z.string().nullable(),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      details: z.record(z.string(), z.unknown()).optional(),
    })
    .nullable(),
});

/** A child run as its parent sees it; `output` is JSON text. */
export type ChildRow = z.infer<typeof childRow>;

/** A run to be started by a step of another one. */
export interface NewChild {
  id: string;
  companyId: string;
  workflowId: string;
  deploymentId: string;
  workflowVersion: number;
  /** JSON text of an object. */
  input: string;
  taskRuntimeRunId: string;
  requestId: string | null;
  createdAt: Date;
  parentRunId: string;
  /** Which attempt of which step starts it. */
  parentStep: string;
  parentWaits: boolean;
  depth: number;
  triggerDepth: number;
}

/** The child that an attempt of a step has started; null when it has not. */
export async function findChildOfStep(
  queryable: Queryable,
  parentRunId: string,
  parentStep: string,
): Promise<ChildRow | null> {
  return queryable.maybeOne(sql.prepared("child_find_of_step", childRow)`
    select id, status, output::text, error from runs.runs
    where parent_run_id = ${parentRunId} and parent_step = ${parentStep}
  `);
}

/**
 * Inserts a child whose deployment is still the active one of its workflow; null when it is not, or
 * the attempt has its child already.
 */
export async function insertChild(
  transaction: Transaction,
  child: NewChild,
): Promise<string | null> {
  const row = await transaction.maybeOne(sql.type(idRow)`
    insert into runs.runs (
      id, company_id, workflow_id, deployment_id, workflow_version, trigger_type, trigger_data,
      input, task_runtime_run_id, request_id, created_at, parent_run_id, parent_step, parent_waits,
      depth, trigger_depth
    )
    select ${child.id}, head.company_id, head.workflow_id, head.deployment_id,
      ${child.workflowVersion}, 'api', json_build_object('parentRunId', ${child.parentRunId}::text),
      ${child.input}::json, ${child.taskRuntimeRunId}, ${child.requestId},
      ${child.createdAt.toISOString()}::timestamptz, ${child.parentRunId}, ${child.parentStep},
      ${child.parentWaits}, ${child.depth}, ${child.triggerDepth}
    from runs.deployment_heads as head
    where head.workflow_id = ${child.workflowId} and head.company_id = ${child.companyId}
      and head.deployment_id = ${child.deploymentId} and head.status = 'active'
    on conflict (parent_run_id, parent_step) where parent_run_id is not null do nothing
    returning id
  `);
  return row?.id ?? null;
}

/** Whether a run of this workflow waits, over however many runs between, for the end of a run. */
export async function isAwaitedByRunOf(
  queryable: Queryable,
  runId: string,
  workflowId: string,
): Promise<boolean> {
  const row = await queryable.maybeOne(sql.type(idRow)`
    with recursive above (id, workflow_id) as (
      select parent.id, parent.workflow_id
      from runs.runs as run
      join runs.runs as parent on parent.id = run.parent_run_id
      where run.id = ${runId} and run.parent_waits
      union all
      select parent.id, parent.workflow_id
      from above
      join runs.runs as run on run.id = above.id and run.parent_waits
      join runs.runs as parent on parent.id = run.parent_run_id
    )
    select id from above where workflow_id = ${workflowId} limit 1
  `);
  return row !== null;
}

/** Ended runs whose children, for which they waited, have not ended; up to `limit`. */
export async function listParentsOfOrphans(
  queryable: Queryable,
  limit: number,
): Promise<readonly string[]> {
  const rows = await queryable.any(sql.type(idRow)`
    select distinct parent.id
    from runs.runs as child
    join runs.runs as parent on parent.id = child.parent_run_id
    where child.parent_waits and child.completed_at is null and parent.completed_at is not null
    limit ${limit}
  `);
  return rows.map((row) => row.id);
}
