import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { RUN_STATUSES, TRIGGER_TYPES } from "../domain/run-status.ts";

const executableRow = z.object({
  id: z.string(),
  company_id: z.string(),
  workflow_id: z.string(),
  deployment_id: z.string(),
  workflow_version: z.number(),
  status: z.enum(RUN_STATUSES),
  trigger_type: z.enum(TRIGGER_TYPES),
  trigger_data: z.string().nullable(),
  schedule_id: z.string().nullable(),
  parent_run_id: z.string().nullable(),
  parent_waits: z.boolean(),
  depth: z.number(),
  trigger_depth: z.number(),
  restarted_from_run_id: z.string().nullable(),
  input: z.string(),
  awaited: z.boolean(),
  request_id: z.string().nullable(),
  active_ms: z.number(),
  active_since: z.date().nullable(),
  created_at: z.date(),
  started_at: z.date().nullable(),
});

/** A run as a worker needs it. */
export type ExecutableRow = z.infer<typeof executableRow>;

/** Runs by id; the worker that leased their tasks may execute them. */
export async function listExecutableRuns(queryable: Queryable, runIds: readonly string[]) {
  return queryable.any(sql.prepared("runs_load", executableRow)`
    select id, company_id, workflow_id, deployment_id, workflow_version, status, trigger_type,
      trigger_data::text, schedule_id, parent_run_id, parent_waits, depth, trigger_depth,
      restarted_from_run_id, input::text, awaited, request_id, active_ms, active_since, created_at,
      started_at
    from runs.runs
    where id = any(${sql.array([...runIds], "text")})
  `);
}

const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});
const pastRow = z.object({
  run_id: z.string(),
  path: z.string(),
  step_id: z.string(),
  seq: z.number(),
  status: z.enum(["success", "error", "skipped"]),
  output: z.string().nullable(),
  error: errorSchema.nullable(),
});

/** The step results of several runs. */
export async function listPastResults(queryable: Queryable, runIds: readonly string[]) {
  return queryable.any(sql.prepared("past_results_load", pastRow)`
    select run_id, path, step_id, seq, status, output::text, error
    from runs.step_results
    where run_id = any(${sql.array([...runIds], "text")})
    order by run_id, seq
  `);
}

const openRow = z.object({
  run_id: z.string(),
  path: z.string(),
  seq: z.number(),
  started_at: z.date(),
  due_at: z.date().nullable(),
  deadline_at: z.date().nullable(),
  attempt: z.number(),
  attempt_group: z.number(),
  previous_attempts: z
    .array(z.object({ attempt: z.number(), startedAt: z.string(), error: errorSchema }))
    .nullable(),
});

/** The open steps of several runs. */
export async function listOpenSteps(queryable: Queryable, runIds: readonly string[]) {
  return queryable.any(sql.prepared("open_steps_load", openRow)`
    select run_id, path, seq, started_at, due_at, deadline_at, attempt, attempt_group, previous_attempts
    from runs.open_steps
    where run_id = any(${sql.array([...runIds], "text")})
  `);
}
