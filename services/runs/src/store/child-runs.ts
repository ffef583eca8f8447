import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import type { ChildRun } from "../domain/child-run.ts";
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

/** The child that an attempt of a step has started; null when it has started none. */
export async function findChildOfStep(
  queryable: Queryable,
  parentRunId: string,
  parentStep: string,
): Promise<ChildRun | null> {
  return queryable.maybeOne(sql.prepared("child_find_of_step", childRow)`
    select run.id, run.status, run.output::text, run.error
    from runs.child_runs as child
    cross join lateral (
      select id, status, output, error from runs.runs where id = child.run_id offset 0
    ) as run
    where child.parent_run_id = ${parentRunId} and child.parent_step = ${parentStep}
  `);
}

/**
 * Keeps a run from ending, and from being acquired by another lease, until the transaction ends. False
 * when either has happened before.
 */
export async function lockAcquiredRun(
  transaction: Transaction,
  runId: string,
  epoch: number,
): Promise<boolean> {
  const row = await transaction.maybeOne(sql.prepared("run_lock_acquired", idRow)`
    select id from runs.runs
    where id = ${runId} and epoch = ${epoch} and completed_at is null
    for share
  `);
  return row !== null;
}

/** Whether a run of this workflow waits for the end of a run, directly or through runs in between. */
export async function isAwaitedByRunOf(
  queryable: Queryable,
  runId: string,
  workflowId: string,
): Promise<boolean> {
  const row = await queryable.maybeOne(sql.prepared("run_awaited_by", idRow)`
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

/** Ended runs with live children for which they waited; up to `limit`. */
export async function listParentsOfOrphans(
  queryable: Queryable,
  limit: number,
): Promise<readonly string[]> {
  const rows = await queryable.any(sql.prepared("orphans_list", idRow)`
    select distinct parent.id
    from runs.runs as child
    cross join lateral (
      select id from runs.runs
      where id = child.parent_run_id and completed_at is not null
      offset 0
    ) as parent
    where child.parent_waits and child.completed_at is null
    limit ${limit}
  `);
  return rows.map((row) => row.id);
}
