import { sql } from "@workflow/db";
import type { Queryable, SqlFragment, Transaction } from "@workflow/db";
import { z } from "zod";
import type { TriggerType } from "../domain/run-status.ts";

const idRow = z.object({ id: z.string() });
const nothing = z.object({});
const keyRow = z.object({ run_id: z.string() });

/** A run to be inserted; `input` is the JSON text of an object. */
export interface NewRun {
  id: string;
  companyId: string;
  workflowId: string;
  deploymentId: string;
  workflowVersion: number;
  triggerType: TriggerType;
  input: string;
  connectionId: string | null;
  taskRuntimeRunId: string;
  awaited: boolean;
  /** The request that causes it; null when none does. */
  requestId: string | null;
  /** JSON text of an object: what triggered it, beyond its input. */
  triggerData?: string;
  /** The schedule that starts it. */
  scheduleId?: string;
  /** How many runs led to it by what they wrote; 0 when absent. */
  triggerDepth?: number;
  createdAt: Date;
}

/**
 * Inserts runs whose deployment is still the active one of its workflow, in one statement, and
 * returns their ids. One that is left out was overtaken by a pause or an update.
 *
 * @param dispatchCte also dispatches them, in the same statement
 */
export async function insertRuns(
  queryable: Queryable,
  runs: readonly NewRun[],
  dispatchCte?: SqlFragment,
): Promise<Set<string>> {
  const rows = runs.map(
    (run) =>
      `{"id":"${run.id}","company_id":"${run.companyId}","workflow_id":"${run.workflowId}",` +
      `"deployment_id":"${run.deploymentId}","workflow_version":${run.workflowVersion},` +
      `"trigger_type":"${run.triggerType}","input":${run.input},` +
      `"connection_id":${JSON.stringify(run.connectionId)},` +
      `"task_runtime_run_id":${JSON.stringify(run.taskRuntimeRunId)},"awaited":${run.awaited},` +
      `"request_id":${JSON.stringify(run.requestId)},` +
      (run.triggerData === undefined ? "" : `"trigger_data":${run.triggerData},`) +
      (run.scheduleId === undefined ? "" : `"schedule_id":"${run.scheduleId}",`) +
      (run.triggerDepth === undefined ? "" : `"trigger_depth":${run.triggerDepth},`) +
      `"created_at":"${run.createdAt.toISOString()}"}`,
  );
  const accepted = sql.fragment`
    accepted as (
      insert into runs.runs (
        id, company_id, workflow_id, deployment_id, workflow_version, trigger_type, input,
        connection_id, task_runtime_run_id, awaited, request_id, trigger_data, schedule_id,
        trigger_depth, created_at
      )
      select run.id, run.company_id, run.workflow_id, run.deployment_id, run.workflow_version,
        run.trigger_type, run.input, run.connection_id, run.task_runtime_run_id, run.awaited,
        run.request_id, run.trigger_data, run.schedule_id, coalesce(run.trigger_depth, 0),
        run.created_at
      from json_to_recordset(${`[${rows.join(",")}]`}::json) as run (
        id text, company_id uuid, workflow_id uuid, deployment_id uuid, workflow_version integer,
        trigger_type text, input json, connection_id text, task_runtime_run_id text,
        awaited boolean, request_id text, trigger_data json, schedule_id text,
        trigger_depth integer, created_at timestamptz
      )
      join runs.deployment_heads as head
        on head.workflow_id = run.workflow_id
        and head.company_id = run.company_id
        and head.deployment_id = run.deployment_id
        and head.status = 'active'
      returning id
    )`;
  const inserted = await queryable.any(
    dispatchCte === undefined
      ? sql.prepared("run_insert", idRow)`with ${accepted} select id from accepted`
      : sql.prepared("run_insert_dispatch", idRow)`
          with ${accepted}, dispatched as (${dispatchCte})
          select id from accepted
        `,
  );
  return new Set(inserted.map((row) => row.id));
}

/** An idempotency key of a workflow (D25). */
export interface IdempotencyKey {
  companyId: string;
  workflowId: string;
  key: string;
}

const KEY_RETENTION = sql.fragment`interval '24 hours'`;

/** The run that a key started within its 24 hours; null when there is none. */
export async function findKeyedRun(
  queryable: Queryable,
  { companyId, workflowId, key }: IdempotencyKey,
): Promise<string | null> {
  const row = await queryable.maybeOne(sql.type(keyRow)`
    select run_id from runs.idempotency_keys
    where company_id = ${companyId} and workflow_id = ${workflowId} and key = ${key}
      and created_at > now() - ${KEY_RETENTION}
  `);
  return row?.run_id ?? null;
}

/**
 * Takes a key for a run unless another run has it, and returns whether that worked. A second caller
 * waits here for the first one's transaction to end.
 */
export async function claimKey(
  transaction: Transaction,
  { companyId, workflowId, key }: IdempotencyKey,
  runId: string,
): Promise<boolean> {
  const row = await transaction.maybeOne(sql.type(keyRow)`
    insert into runs.idempotency_keys as taken (company_id, workflow_id, key, run_id)
    values (${companyId}, ${workflowId}, ${key}, ${runId})
    on conflict on constraint idempotency_keys_pkey do update
    set run_id = excluded.run_id, created_at = now()
    where taken.created_at <= now() - ${KEY_RETENTION}
    returning run_id
  `);
  return row !== null;
}

/** Forgets up to `limit` keys whose time is over and returns how many. */
export async function deleteExpiredKeys(queryable: Queryable, limit: number): Promise<number> {
  const result = await queryable.query(sql.type(nothing)`
    delete from runs.idempotency_keys
    where (company_id, workflow_id, key) in (
      select company_id, workflow_id, key from runs.idempotency_keys
      where created_at <= now() - ${KEY_RETENTION}
      order by created_at
      limit ${limit}
    )
  `);
  return result.rowCount;
}
