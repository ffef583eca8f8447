import { sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { z } from "zod";
import type { TriggerType } from "../domain/run-status.ts";
import type { StartFault } from "../domain/start-fault.ts";
import { claimedEventsCte, ONCE_PER_EVENT } from "./claim-events.ts";
import type { EventClaim } from "./claim-events.ts";

const idRow = z.object({ id: z.string() });
const nothing = z.object({});
const keyRow = z.object({ runId: z.string() });
const keyedRow = z.object({ id: z.string(), runId: z.string() });

/** A run to be inserted. */
export interface NewRun {
  id: string;
  companyId: string;
  workflowId: string;
  deploymentId: string;
  workflowVersion: number;
  triggerType: TriggerType;
  /** JSON text; of an object, unless an event from outside has brought another value. */
  input: string;
  /** The same, parsed; undefined when it is not parsed yet. */
  inputValue?: unknown;
  connectionId: string | null;
  taskRuntimeRunId: string;
  /** Whether a caller waits for its end. */
  hasSyncWaiter: boolean;
  /** The request that causes it; null when none does. */
  requestId: string | null;
  /**
   * The traceparent of the span that starts it, which its execution continues; null when that is not
   * recorded.
   */
  traceparent: string | null;
  /** Starts one run in 24 hours (D25). */
  idempotencyKey: string | null;
  /** JSON text of an object: what triggered it, beyond its input. */
  triggerData: string | null;
  /** The schedule that starts it. */
  scheduleId: string | null;
  /** The length of the chain of runs that started one another by their writes, down to this one. */
  triggerDepth: number;
  /** The attempt of a parent's step that starts it. */
  parent: ParentStep | null;
  /** The first run of that row; null when this run is the first (D60). */
  rootRunId: string | null;
  /** The reason why it fails as soon as it is executed; null: there is none. */
  startFault: StartFault | null;
  createdAt: Date;
}

/** How the task runtime dispatches the stored runs. */
export interface Dispatched {
  /** The epoch with which a run begins: that of the lease under which it is stored, or 0. */
  epochOf: (runId: string) => number;
  /** Also makes the tasks: a data-modifying CTE that reads `accepted (id, company_id)`. */
  cte?: SqlFragment | undefined;
}

/** The attempt of a step that starts a run. */
export interface ParentStep {
  runId: string;
  step: string;
  /** Whether the parent waits for the end. */
  waits: boolean;
  /** How many runs are above the child (D17). */
  depth: number;
}

/**
 * Inserts runs whose deployment is still the active one of its workflow, in one statement, and returns
 * their ids. A run is left out for one of these reasons: a pause or an update overtook it, its
 * idempotency key has started a run before, or the attempt of the parent's step has its child already.
 *
 * No two runs may have the same key, and no two claims the same event.
 *
 * @param dispatched how their tasks are made
 * @param claims events that start the runs; an event that was claimed before, or one of whose runs was
 * overtaken, starts none
 */
export async function insertRuns(
  queryable: Queryable,
  runs: readonly NewRun[],
  { epochOf, cte: dispatchCte }: Dispatched = { epochOf: () => 0 },
  claims: readonly EventClaim[] = [],
): Promise<Set<string>> {
  const keyed = runs.some(({ idempotencyKey }) => idempotencyKey !== null);
  const children = runs.some(({ parent }) => parent !== null);
  const claiming = claims.length > 0;
  const ctes = [
    wantedCte(runs, epochOf),
    ...(keyed ? [CLAIMED_KEYS] : []),
    ...(children ? [BORN_CHILDREN] : []),
    ...(claiming ? [claimedEventsCte(claims)] : []),
    acceptedCte({ keyed, children, claiming }),
    ...(dispatchCte === undefined ? [] : [sql.fragment`dispatched as (${dispatchCte})`]),
  ];
  const variant = [
    "run_insert",
    ...(keyed ? ["keyed"] : []),
    ...(children ? ["children"] : []),
    ...(claiming ? ["events"] : []),
    ...(dispatchCte === undefined ? [] : ["dispatch"]),
  ].join("_");
  const inserted = await queryable.any(sql.prepared(variant, idRow)`
    with ${sql.join(ctes, sql.fragment`, `)} select id from accepted
  `);
  return new Set(inserted.map((row) => row.id));
}

/** The runs whose deployment is still the active one. */
function wantedCte(runs: readonly NewRun[], epochOf: Dispatched["epochOf"]): SqlFragment {
  return sql.fragment`
    wanted as (
      select run.*
      from json_to_recordset(${`[${runs.map((run) => runDocument(run, epochOf(run.id))).join(",")}]`}::json) as run (
        id text, company_id uuid, workflow_id uuid, deployment_id uuid, workflow_version integer,
        trigger_type text, input json, connection_id text, task_runtime_run_id text,
        awaited boolean, request_id text, idempotency_key text, trigger_data json, schedule_id text,
        trigger_depth integer, parent_run_id text, parent_step text, parent_waits boolean,
        depth integer, root_run_id text, start_fault text, traceparent text, epoch bigint,
        created_at timestamptz
      )
      join runs.deployment_heads as head
        on head.workflow_id = run.workflow_id
        and head.company_id = run.company_id
        and head.deployment_id = run.deployment_id
        and head.status = 'active'
    )`;
}

/** What is checked besides the deployment before a run is accepted. */
interface Conditions {
  keyed: boolean;
  children: boolean;
  claiming: boolean;
}

function acceptedCte({ keyed, children, claiming }: Conditions): SqlFragment {
  const unlessTaken = keyed
    ? sql.fragment`and (idempotency_key is null or id in (select run_id from claimed))`
    : sql.fragment``;
  const oncePerStep = children
    ? sql.fragment`and (parent_run_id is null or id in (select run_id from born))`
    : sql.fragment``;
  const oncePerEvent = claiming ? ONCE_PER_EVENT : sql.fragment``;
  return sql.fragment`
    accepted as (
      insert into runs.runs (
        id, company_id, workflow_id, deployment_id, workflow_version, trigger_type, input,
        connection_id, task_runtime_run_id, awaited, request_id, trigger_data, schedule_id,
        trigger_depth, parent_run_id, parent_step, parent_waits, depth, root_run_id, start_fault,
        traceparent, epoch, created_at
      )
      select id, company_id, workflow_id, deployment_id, workflow_version, trigger_type,
        -- An input of null is one.
        coalesce(input, 'null'::json), connection_id, task_runtime_run_id, awaited, request_id,
        trigger_data, schedule_id,
        coalesce(trigger_depth, 0), parent_run_id, parent_step, coalesce(parent_waits, false),
        coalesce(depth, 0), root_run_id, start_fault, traceparent, coalesce(epoch, 0), created_at
      from wanted
      where true ${unlessTaken} ${oncePerStep} ${oncePerEvent}
      returning id, company_id
    )`;
}

const KEY_RETENTION = sql.fragment`interval '24 hours'`;

/**
 * Claims keys for runs unless other runs have them. A second caller waits here for the first one's
 * transaction to end. All claim in one order, so that two never wait for each other.
 */
const CLAIMED_KEYS = sql.fragment`
  claimed as (
    insert into runs.idempotency_keys as taken (company_id, workflow_id, key, run_id)
    select company_id, workflow_id, idempotency_key, id
    from wanted
    where idempotency_key is not null
    order by company_id, workflow_id, idempotency_key collate "C"
    on conflict on constraint idempotency_keys_pkey do update
    set run_id = excluded.run_id, created_at = now()
    where taken.created_at <= now() - ${KEY_RETENTION}
    returning run_id
  )`;

/**
 * Notes children unless the attempts of their parents' steps have one. The table is separate, because
 * child and parent may lie in different partitions.
 */
const BORN_CHILDREN = sql.fragment`
  born as (
    insert into runs.child_runs (parent_run_id, parent_step, run_id)
    select parent_run_id, parent_step, id
    from wanted
    where parent_run_id is not null
    order by parent_run_id collate "C", parent_step collate "C"
    on conflict (parent_run_id, parent_step) do nothing
    returning run_id
  )`;

function runDocument(run: NewRun, epoch: number): string {
  const { parent } = run;
  return (
    `{"id":"${run.id}","company_id":"${run.companyId}","workflow_id":"${run.workflowId}",` +
    `"deployment_id":"${run.deploymentId}","workflow_version":${run.workflowVersion},` +
    `"trigger_type":"${run.triggerType}","input":${run.input},` +
    `"connection_id":${JSON.stringify(run.connectionId)},` +
    `"task_runtime_run_id":${JSON.stringify(run.taskRuntimeRunId)},"awaited":${run.hasSyncWaiter},` +
    `"request_id":${JSON.stringify(run.requestId)},` +
    (run.idempotencyKey === null
      ? ""
      : `"idempotency_key":${JSON.stringify(run.idempotencyKey)},`) +
    (run.triggerData === null ? "" : `"trigger_data":${run.triggerData},`) +
    (run.scheduleId === null ? "" : `"schedule_id":"${run.scheduleId}",`) +
    (run.triggerDepth === 0 ? "" : `"trigger_depth":${run.triggerDepth},`) +
    (parent === null
      ? ""
      : `"parent_run_id":"${parent.runId}","parent_step":${JSON.stringify(parent.step)},` +
        `"parent_waits":${parent.waits},"depth":${parent.depth},`) +
    (run.rootRunId === null ? "" : `"root_run_id":"${run.rootRunId}",`) +
    (run.startFault === null ? "" : `"start_fault":"${run.startFault}",`) +
    (run.traceparent === null ? "" : `"traceparent":"${run.traceparent}",`) +
    (epoch === 0 ? "" : `"epoch":${epoch},`) +
    `"created_at":"${run.createdAt.toISOString()}"}`
  );
}

/** An idempotency key of a workflow (D25). */
export interface IdempotencyKey {
  companyId: string;
  workflowId: string;
  key: string;
}

/** The run that a key started within its 24 hours; null when there is none. */
export async function findKeyedRun(
  queryable: Queryable,
  { companyId, workflowId, key }: IdempotencyKey,
): Promise<string | null> {
  const row = await queryable.maybeOne(sql.type(keyRow)`
    select run_id as "runId" from runs.idempotency_keys
    where company_id = ${companyId} and workflow_id = ${workflowId} and key = ${key}
      and created_at > now() - ${KEY_RETENTION}
  `);
  return row?.runId ?? null;
}

/** The runs that keys started within their 24 hours, by the ids in the question. */
export async function findKeyedRuns(
  queryable: Queryable,
  keys: readonly (IdempotencyKey & { id: string })[],
): Promise<Map<string, string>> {
  const rows = await queryable.any(sql.prepared("keyed_runs_find", keyedRow)`
    select asked.id, taken.run_id as "runId"
    from ${sql.unnest(
      keys.map(({ id, companyId, workflowId, key }) => [id, companyId, workflowId, key]),
      ["text", "uuid", "uuid", "text"],
    )} as asked (id, company_id, workflow_id, key)
    join runs.idempotency_keys as taken
      on taken.company_id = asked.company_id
      and taken.workflow_id = asked.workflow_id
      and taken.key = asked.key
    where taken.created_at > now() - ${KEY_RETENTION}
  `);
  return new Map(rows.map((row) => [row.id, row.runId]));
}

/** Deletes up to `limit` expired keys and returns how many. */
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
