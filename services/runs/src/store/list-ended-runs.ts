import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { TERMINAL_STATUSES, TRIGGER_TYPES } from "../domain/run-status.ts";
import { errorSchema } from "./read-runs.ts";

const endedRow = z.object({
  id: z.string(),
  companyId: z.string(),
  workflowId: z.string(),
  workflowName: z.string(),
  workflowVersion: z.number(),
  triggerType: z.enum(TRIGGER_TYPES),
  requestId: z.string().nullable(),
  traceparent: z.string().nullable(),
  createdAt: z.date(),
  startedAt: z.date().nullable(),
  completedAt: z.date(),
  status: z.enum(TERMINAL_STATUSES),
  error: errorSchema.nullable(),
});

/** The columns of an ended run that its events need. */
export type EndedRunRow = z.infer<typeof endedRow>;

/** Selects ends of runs. */
export interface EndsFilter {
  companyIds: readonly string[];
  /** Inclusive. */
  from: Date;
  /** Exclusive. */
  before: Date;
  /** Only ends after this one; null: all. */
  after: { completedAt: Date; runId: string } | null;
  limit: number;
}

/**
 * Runs of several companies that ended within a period, in the order of their ends. They are found by
 * block ranges of the time (`runs_by_end`), which cost next to nothing to keep. The caller pays for that
 * by reading all runs that ended at about that time. The companies are no condition for an index, or the
 * planner might read all runs of some of them instead.
 */
export async function listEndedRuns(
  queryable: Queryable,
  { companyIds, from, before, after, limit }: EndsFilter,
): Promise<readonly EndedRunRow[]> {
  const start = (after?.completedAt ?? from).toISOString();
  return queryable.any(sql.prepared("runs_ended", endedRow)`
    with ended as materialized (
      select id, company_id, workflow_id, deployment_id, workflow_version, trigger_type, request_id,
        traceparent, created_at, started_at, completed_at, status, error
      from runs.runs
      where completed_at >= ${start} and completed_at < ${before.toISOString()}
        and (company_id = any(${sql.array([...companyIds], "uuid")})) is true
        and (completed_at, id) > (${start}, ${after?.runId ?? ""})
      order by completed_at, id
      limit ${limit}
    )
    select ended.id, ended.company_id as "companyId", ended.workflow_id as "workflowId",
      deployment.name as "workflowName", ended.workflow_version as "workflowVersion",
      ended.trigger_type as "triggerType", ended.request_id as "requestId",
      ended.traceparent, ended.created_at as "createdAt", ended.started_at as "startedAt",
      ended.completed_at as "completedAt", ended.status, ended.error
    from ended
    join runs.deployments as deployment on deployment.id = ended.deployment_id
    order by ended.completed_at, ended.id
  `);
}
