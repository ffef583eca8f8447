import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { RUN_STATUSES, TRIGGER_TYPES } from "../domain/run-status.ts";

const nothing = z.object({});
const idRow = z.object({ id: z.string() });
const originalRow = z.object({
  id: z.string(),
  workflowId: z.string(),
  deploymentId: z.string(),
  workflowVersion: z.number(),
  status: z.enum(RUN_STATUSES),
  triggerType: z.enum(TRIGGER_TYPES),
  error: z
    .object({ code: z.string(), details: z.record(z.string(), z.unknown()).optional() })
    .nullable(),
});
const inputRow = z.object({ input: z.string() });
const resultRow = z.object({
  path: z.string(),
  stepId: z.string(),
  status: z.enum(["success", "error", "skipped"]),
  errorCode: z.string().nullable(),
});

/** A run that is to be repeated. */
export type OriginalRow = z.infer<typeof originalRow>;

/** One run of a company with the columns that repeating needs; null when there is none. */
export async function findOriginal(
  queryable: Queryable,
  companyId: string,
  runId: string,
): Promise<OriginalRow | null> {
  return queryable.maybeOne(sql.prepared("original_find", originalRow)`
    select id, workflow_id as "workflowId", deployment_id as "deploymentId",
      workflow_version as "workflowVersion", status, trigger_type as "triggerType", error
    from runs.runs
    where id = ${runId} and company_id = ${companyId}
  `);
}

/** The input of a run as JSON text. */
export async function getInput(queryable: Queryable, runId: string): Promise<string> {
  const row = await queryable.one(sql.type(inputRow)`
    select input::text from runs.runs where id = ${runId}
  `);
  return row.input;
}

/** How the steps of a run ended, without their documents, in execution order. */
export async function listOutcomes(queryable: Queryable, runId: string) {
  const rows = await queryable.any(sql.prepared("outcomes_list", resultRow)`
    select path, step_id as "stepId", status, error ->> 'code' as "errorCode"
    from runs.step_results
    where run_id = ${runId}
    order by seq
  `);
  return rows.map((row) => ({
    path: row.path,
    stepId: row.stepId,
    status: row.status,
    errorCode: row.errorCode,
  }));
}

/** A run that repeats another one. */
export interface RepeatingRun {
  id: string;
  originalRunId: string;
  taskRuntimeRunId: string;
  /** JSON text; null: the original's. */
  input: string | null;
  requestId: string;
  /** The traceparent of the call that repeats it; null when that is not recorded. */
  traceparent: string | null;
  createdAt: Date;
}

/**
 * Inserts a run of the same deployment, with the same trigger and connection. It is independent: its end
 * is reported neither to the schedule nor to the parent that started the original.
 *
 * @throws AppError NOT_FOUND when retention has removed the original
 */
export async function insertRepeatingRun(
  transaction: Transaction,
  run: RepeatingRun,
): Promise<void> {
  const inserted = await transaction.maybeOne(sql.prepared("run_repeat", idRow)`
    insert into runs.runs (
      id, company_id, workflow_id, deployment_id, workflow_version, trigger_type, trigger_data, input,
      connection_id, task_runtime_run_id, restarted_from_run_id, request_id, traceparent, trigger_depth,
      created_at
    )
    select ${run.id}, company_id, workflow_id, deployment_id, workflow_version, trigger_type,
      trigger_data, coalesce(${run.input}::json, input), connection_id, ${run.taskRuntimeRunId}, id,
      ${run.requestId}, ${run.traceparent}, trigger_depth, ${run.createdAt.toISOString()}::timestamptz
    from runs.runs
    where id = ${run.originalRunId}
    -- Until its results are copied, retention lets it be.
    for key share
    returning id
  `);
  if (inserted === null) throw new AppError("NOT_FOUND", "Run not found");
}

/** Copies step results of one run to another that takes them over; their order stays. */
export async function copyResults(
  transaction: Transaction,
  { from, to, paths }: { from: string; to: string; paths: readonly string[] },
): Promise<void> {
  await transaction.query(sql.prepared("results_copy", nothing)`
    insert into runs.step_results (
      run_id, path, seq, step_id, type, status, started_at, completed_at, input, output, error,
      attempt, previous_attempts, reused, input_bytes, output_bytes
    )
    select ${to}, path, seq, step_id, type, status, started_at, completed_at, input, output, error,
      attempt, previous_attempts, true, coalesce(input_bytes, octet_length(input::text), 0),
      coalesce(output_bytes, octet_length(output::text), 0)
    from runs.step_results
    where run_id = ${from} and path = any(${sql.array([...paths], "text")})
  `);
}
