import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { RUN_STATUSES, TRIGGER_TYPES } from "../domain/run-status.ts";

const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});
const triggerType = z.enum(TRIGGER_TYPES);
const status = z.enum(RUN_STATUSES);

/** The columns of a run without its documents. */
export const summaryRow = z.object({
  id: z.string(),
  workflow_id: z.string(),
  workflow_name: z.string(),
  workflow_version: z.number(),
  status,
  trigger_type: triggerType,
  error: errorSchema.nullable(),
  restarted_from_run_id: z.string().nullable(),
  created_at: z.date(),
  started_at: z.date().nullable(),
  completed_at: z.date().nullable(),
});
const runRow = summaryRow.extend({
  task_runtime_run_id: z.string().nullable(),
  input: z.string(),
  output: z.string().nullable(),
});

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
    select run.id, run.workflow_id, deployment.name as workflow_name, run.workflow_version,
      run.status, run.trigger_type, run.task_runtime_run_id, run.input::text, run.output::text,
      run.error, run.restarted_from_run_id, run.created_at, run.started_at, run.completed_at
    from runs.runs as run
    join runs.deployments as deployment on deployment.id = run.deployment_id
    where run.id = ${runId} and run.company_id = ${companyId}
  `);
}

/** Runs by id, without their documents. */
export async function listSummaries(queryable: Queryable, runIds: readonly string[]) {
  return queryable.any(sql.prepared("run_summaries", summaryRow)`
    select run.id, run.workflow_id, deployment.name as workflow_name, run.workflow_version,
      run.status, run.trigger_type, run.error, run.restarted_from_run_id, run.created_at,
      run.started_at, run.completed_at
    from runs.runs as run
    join runs.deployments as deployment on deployment.id = run.deployment_id
    where run.id = any(${sql.array([...runIds], "text")})
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

const attemptSchema = z.object({
  attempt: z.number(),
  startedAt: z.string(),
  error: errorSchema,
});
const stepRow = z.object({
  step_id: z.string(),
  path: z.string(),
  type: z.string(),
  status: z.enum(["success", "error", "skipped"]),
  started_at: z.date(),
  completed_at: z.date(),
  input: z.string().nullable(),
  output: z.string().nullable(),
  error: errorSchema.nullable(),
  attempt: z.number(),
  previous_attempts: z.array(attemptSchema).nullable(),
  reused: z.boolean(),
});

/** A step result; documents are JSON text. */
export type StepRow = z.infer<typeof stepRow>;

/** The step results of a run in the order in which the steps began. */
export async function listStepResults(
  queryable: Queryable,
  runId: string,
): Promise<readonly StepRow[]> {
  return queryable.any(sql.prepared("steps_list", stepRow)`
    select step_id, path, type, status, started_at, completed_at, input::text, output::text, error,
      attempt, previous_attempts, reused
    from runs.step_results
    where run_id = ${runId}
    order by seq
  `);
}

/** Some of the step results of a run, in the order in which the steps began. */
export async function listStepResultsAt(
  queryable: Queryable,
  runId: string,
  paths: readonly string[],
): Promise<readonly StepRow[]> {
  return queryable.any(sql.prepared("steps_at", stepRow)`
    select step_id, path, type, status, started_at, completed_at, input::text, output::text, error,
      attempt, previous_attempts, reused
    from runs.step_results
    where run_id = ${runId} and path = any(${sql.array([...paths], "text")})
    order by seq
  `);
}
