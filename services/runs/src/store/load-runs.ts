import { sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { z } from "zod";
import { RUN_STATUSES, TRIGGER_TYPES } from "../domain/run-status.ts";
import { START_FAULTS } from "../domain/start-fault.ts";
import { oldestRun } from "./oldest-run.ts";

const executableRow = z.object({
  id: z.string(),
  companyId: z.string(),
  workflowId: z.string(),
  deploymentId: z.string(),
  workflowVersion: z.number(),
  status: z.enum(RUN_STATUSES),
  triggerType: z.enum(TRIGGER_TYPES),
  triggerData: z.string().nullable(),
  scheduleId: z.string().nullable(),
  parentRunId: z.string().nullable(),
  parentWaits: z.boolean(),
  depth: z.number(),
  triggerDepth: z.number(),
  rootRunId: z.string().nullable(),
  connectionId: z.string().nullable(),
  startFault: z.enum(START_FAULTS).nullable(),
  restartedFromRunId: z.string().nullable(),
  input: z.string(),
  hasSyncWaiter: z.boolean(),
  requestId: z.string().nullable(),
  traceparent: z.string().nullable(),
  activeMs: z.number(),
  /** How long ago its execution began, by the database's clock. */
  activeSinceMs: z.number().nullable(),
  createdAt: z.date(),
  startedAt: z.date().nullable(),
});

/** A run as a worker needs it. */
export type ExecutableRow = z.infer<typeof executableRow>;

/** The right to execute one run. */
export interface Acquisition {
  runId: string;
  /** The later of two leases of a run has the greater fence. */
  fence: number;
}

/**
 * Makes leases the epochs of their runs, unless a later one has been, and returns these runs. From then
 * on nothing is written for executions under earlier leases, and the journal's entries count from 0.
 *
 * @param beginCte finds the valid leases: CTEs of which the last is `begun (run_id)`
 */
export async function acquireRuns(
  queryable: Queryable,
  acquisitions: readonly Acquisition[],
  beginCte?: SqlFragment,
) {
  const runIds = acquisitions.map(({ runId }) => runId);
  const begun = beginCte ?? sql.fragment`begun as (select run_id from acquisition)`;
  const variant = beginCte === undefined ? "runs_acquire" : "runs_acquire_begin";
  return queryable.any(sql.prepared(variant, executableRow)`
    with acquisition as (
      select * from ${sql.unnest(
        acquisitions.map(({ runId, fence }) => [runId, fence]),
        ["text", "int8"],
      )} as acquisition (run_id, fence)
    ), ${begun}
    update runs.runs as run
    set epoch = acquisition.fence,
      journal_entry = case when run.epoch = acquisition.fence then run.journal_entry else 0 end
    from acquisition
    join begun on begun.run_id = acquisition.run_id
    where run.id = acquisition.run_id and run.id >= ${oldestRun(runIds)}
      and run.epoch <= acquisition.fence
    returning id, company_id as "companyId", workflow_id as "workflowId",
      deployment_id as "deploymentId", workflow_version as "workflowVersion", status,
      trigger_type as "triggerType", trigger_data::text as "triggerData",
      schedule_id as "scheduleId", parent_run_id as "parentRunId", parent_waits as "parentWaits",
      depth, trigger_depth as "triggerDepth", root_run_id as "rootRunId",
      connection_id as "connectionId", start_fault as "startFault", restarted_from_run_id as "restartedFromRunId", input::text,
      awaited as "hasSyncWaiter", request_id as "requestId", traceparent, active_ms as "activeMs",
      extract(epoch from clock_timestamp() - active_since)::float8 * 1000 as "activeSinceMs",
      created_at as "createdAt", started_at as "startedAt"
  `);
}
