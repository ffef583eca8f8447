import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { RUN_STATUSES, TRIGGER_TYPES } from "../domain/run-status.ts";
import { oldestRun } from "./oldest-run.ts";

/** The error of a run, as it is stored. */
export const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});
const triggerType = z.enum(TRIGGER_TYPES);
const status = z.enum(RUN_STATUSES);

/** The columns of a run without its documents. */
export const summaryRow = z.object({
  id: z.string(),
  workflowId: z.string(),
  workflowName: z.string(),
  workflowVersion: z.number(),
  status,
  triggerType,
  error: errorSchema.nullable(),
  restartedFromRunId: z.string().nullable(),
  createdAt: z.date(),
  startedAt: z.date().nullable(),
  completedAt: z.date().nullable(),
});
const runRow = summaryRow.extend({
  taskRuntimeRunId: z.string().nullable(),
  input: z.string(),
  output: z.string().nullable(),
});

const boundedRunRow = runRow.extend({ input: z.string().nullable(), bytes: z.number() });

/** A run without its documents. */
export type RunSummaryRow = z.infer<typeof summaryRow>;
/** A run; documents are JSON text. */
export type RunRow = z.infer<typeof runRow>;

/** One run of a company; null when there is none. */
export async function findRun(
  queryable: Queryable,
  companyId: string,
  runId: string,
): Promise<RunRow | null> {
  return queryable.maybeOne(sql.prepared("run_find", runRow)`
    select run.id, run.workflow_id as "workflowId", deployment.name as "workflowName",
      run.workflow_version as "workflowVersion",
      run.status, run.trigger_type as "triggerType", run.task_runtime_run_id as "taskRuntimeRunId",
      run.input::text, run.output::text,
      run.error, run.restarted_from_run_id as "restartedFromRunId", run.created_at as "createdAt",
      run.started_at as "startedAt", run.completed_at as "completedAt"
    from runs.runs as run
    join runs.deployments as deployment on deployment.id = run.deployment_id
    where run.id = ${runId} and run.company_id = ${companyId}
  `);
}

/** A run whose documents are included only if they fit. */
export type BoundedRunRow = z.infer<typeof boundedRunRow>;

/**
 * One run of a company; null when there is none. If its input and output have more bytes together, they
 * are left out and the database does not build them.
 */
export async function findBoundedRun(
  queryable: Queryable,
  companyId: string,
  runId: string,
  bytesMax: number,
): Promise<BoundedRunRow | null> {
  return queryable.maybeOne(sql.prepared("run_find_bounded", boundedRunRow)`
    select run.id, run.workflow_id as "workflowId", deployment.name as "workflowName",
      run.workflow_version as "workflowVersion",
      run.status, run.trigger_type as "triggerType", run.task_runtime_run_id as "taskRuntimeRunId",
      case when size.bytes <= ${bytesMax} then run.input::text end as input,
      case when size.bytes <= ${bytesMax} then run.output::text end as output, size.bytes,
      run.error, run.restarted_from_run_id as "restartedFromRunId", run.created_at as "createdAt",
      run.started_at as "startedAt", run.completed_at as "completedAt"
    from runs.runs as run
    join runs.deployments as deployment on deployment.id = run.deployment_id
    cross join lateral (
      select octet_length(run.input::text) + coalesce(octet_length(run.output::text), 0) as bytes
    ) as size
    where run.id = ${runId} and run.company_id = ${companyId}
  `);
}

/** One run of a company without its documents; null when there is none. */
export async function findSummary(
  queryable: Queryable,
  companyId: string,
  runId: string,
): Promise<RunSummaryRow | null> {
  return queryable.maybeOne(sql.prepared("run_find_summary", summaryRow)`
    select run.id, run.workflow_id as "workflowId", deployment.name as "workflowName",
      run.workflow_version as "workflowVersion",
      run.status, run.trigger_type as "triggerType", run.error,
      run.restarted_from_run_id as "restartedFromRunId", run.created_at as "createdAt",
      run.started_at as "startedAt", run.completed_at as "completedAt"
    from runs.runs as run
    join runs.deployments as deployment on deployment.id = run.deployment_id
    where run.id = ${runId} and run.company_id = ${companyId}
  `);
}

/** Runs by id, without their documents. */
export async function listSummaries(queryable: Queryable, runIds: readonly string[]) {
  return queryable.any(sql.prepared("run_summaries", summaryRow)`
    select run.id, run.workflow_id as "workflowId", deployment.name as "workflowName",
      run.workflow_version as "workflowVersion",
      run.status, run.trigger_type as "triggerType", run.error,
      run.restarted_from_run_id as "restartedFromRunId", run.created_at as "createdAt",
      run.started_at as "startedAt", run.completed_at as "completedAt"
    from runs.runs as run
    join runs.deployments as deployment on deployment.id = run.deployment_id
    where run.id = any(${sql.array([...runIds], "text")}) and run.id >= ${oldestRun(runIds)}
  `);
}

/** Whether a company has a run. */
export async function hasRun(
  queryable: Queryable,
  companyId: string,
  runId: string,
): Promise<boolean> {
  const row = await queryable.maybeOne(sql.prepared("run_exists", z.object({ id: z.string() }))`
    select id from runs.runs where id = ${runId} and company_id = ${companyId}
  `);
  return row !== null;
}
