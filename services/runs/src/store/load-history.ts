import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { oldestRun } from "./oldest-run.ts";

const countRow = z.object({ runId: z.string(), results: z.number() });

/** The number of step results of runs. Runs without any are left out. */
export async function countResults(queryable: Queryable, runIds: readonly string[]) {
  return queryable.any(sql.prepared("results_count", countRow)`
    select run_id as "runId", count(*)::integer as results
    from runs.step_results
    where run_id = any(${sql.array([...runIds], "text")}) and run_id >= ${oldestRun(runIds)}
    group by run_id
  `);
}

const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});
const headRow = z.object({
  runId: z.string(),
  path: z.string(),
  stepId: z.string(),
  seq: z.number(),
  status: z.enum(["success", "error", "skipped"]),
  error: errorSchema.nullable(),
  inputBytes: z.number(),
  outputBytes: z.number(),
  smallOutput: z.string().nullable(),
});

/**
 * The step results of several runs without their documents, except outputs of at most `bytesMax` bytes.
 * An earlier version of the service has stored results without their sizes.
 */
export async function listResultHeads(
  queryable: Queryable,
  runIds: readonly string[],
  smallBytes: number,
) {
  return queryable.any(sql.prepared("result_heads_load", headRow)`
    select run_id as "runId", path, step_id as "stepId", seq, status, error,
      coalesce(input_bytes, octet_length(input::text), 0) as "inputBytes",
      coalesce(output_bytes, octet_length(output::text), 0) as "outputBytes",
      case
        when coalesce(output_bytes, octet_length(output::text)) <= ${smallBytes} then output::text
      end as "smallOutput"
    from runs.step_results
    where run_id = any(${sql.array([...runIds], "text")}) and run_id >= ${oldestRun(runIds)}
    order by run_id, seq
  `);
}

const outputRow = z.object({ path: z.string(), output: z.string().nullable() });

/** Outputs of a run's steps as JSON text, by path. */
export async function listOutputs(
  queryable: Queryable,
  runId: string,
  paths: readonly string[],
): Promise<Map<string, string | null>> {
  const rows = await queryable.any(sql.prepared("outputs_load", outputRow)`
    select path, output::text
    from runs.step_results
    where run_id = ${runId} and path = any(${sql.array([...paths], "text")})
  `);
  return new Map(rows.map(({ path, output }) => [path, output]));
}

const openRow = z.object({
  runId: z.string(),
  path: z.string(),
  seq: z.number(),
  startedAt: z.date(),
  dueAt: z.date().nullable(),
  hasTurn: z.boolean(),
  deadlineAt: z.date().nullable(),
  attempt: z.number(),
  attemptGroup: z.number(),
  previousAttempts: z
    .array(z.object({ attempt: z.number(), startedAt: z.string(), error: errorSchema }))
    .nullable(),
});

/** The open steps of several runs. */
export async function listOpenSteps(queryable: Queryable, runIds: readonly string[]) {
  return queryable.any(sql.prepared("open_steps_load", openRow)`
    select run_id as "runId", path, seq, started_at as "startedAt", due_at as "dueAt",
      has_turn as "hasTurn", deadline_at as "deadlineAt", attempt, attempt_group as "attemptGroup",
      previous_attempts as "previousAttempts"
    from runs.open_steps
    where run_id = any(${sql.array([...runIds], "text")})
  `);
}
