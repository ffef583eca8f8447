import { sql } from "@workflow/db";
import type { Queryable, SqlFragment, Transaction } from "@workflow/db";
import { z } from "zod";
import { DEFAULT_POOL } from "../domain/worker-pool.ts";
import type { NewTask } from "./port.ts";

const runIdRow = z.object({ runId: z.string() });
const statusRow = z.object({ workerId: z.string().nullable(), due: z.boolean() });
const nothing = z.object({});
const wokenRow = z.object({ runId: z.string(), woken: z.boolean() });

/** A task to be stored, under a lease or due at once. */
interface StoredLease {
  /** The worker that executes some of the tasks itself; null: none does. */
  workerId: string | null;
  /** The run ids of those tasks. */
  runIds: ReadonlySet<string>;
  leaseMs: number;
  /** The pools of tasks that are not in the default one, by run id. */
  pools: ReadonlyMap<string, string>;
}

/** Inserts tasks for the rows of `accepted (id, company_id)`. */
export function insertTasksCte({ workerId, runIds, leaseMs, pools }: StoredLease): SqlFragment {
  return sql.fragment`
    insert into runs.tasks (run_id, company_id, due_at, fence, worker_id, begun, pool)
    select accepted.id, accepted.company_id,
      case
        when leased.run_id is null then now()
        else now() + ${leaseMs} * interval '1 millisecond'
      end,
      (leased.run_id is not null)::integer,
      case when leased.run_id is not null then ${workerId} end,
      leased.run_id is not null,
      coalesce(pooled.pool, ${DEFAULT_POOL})
    from accepted
    left join ${sql.unnest(
      Array.from(runIds, (runId) => [runId]),
      ["text"],
    )} as leased (run_id) on leased.run_id = accepted.id
    left join ${sql.unnest([...pools], ["text", "text"])} as pooled (run_id, pool)
      on pooled.run_id = accepted.id
  `;
}

/** Inserts tasks. */
export async function insertTasks(
  transaction: Transaction,
  tasks: readonly NewTask[],
  lease: StoredLease,
): Promise<void> {
  await transaction.query(sql.prepared("task_insert", nothing)`
    with accepted as (
      select id, company_id from ${sql.unnest(
        tasks.map(({ runId, companyId }) => [runId, companyId]),
        ["text", "uuid"],
      )} as accepted (id, company_id)
    )
    ${insertTasksCte(lease)}
  `);
}

/**
 * Extends leases and returns the ids of those that still hold. A locked task is being settled, which sets
 * its end anyway; waiting for it could be a deadlock between two batches.
 */
export async function extendLeases(
  database: Queryable,
  leases: readonly { runId: string; fence: number }[],
  leaseMs: number,
): Promise<readonly string[]> {
  const rows = await database.any(sql.prepared("task_extend", runIdRow)`
    with held as (
      select * from ${sql.unnest(
        leases.map((lease) => [lease.runId, lease.fence]),
        ["text", "int8"],
      )} as held (run_id, fence)
    ), free as (
      select task.run_id from runs.tasks as task
      join held on held.run_id = task.run_id and held.fence = task.fence
      where task.worker_id is not null
      for update of task skip locked
    ), extended as (
      update runs.tasks as task
      set due_at = now() + ${leaseMs} * interval '1 millisecond'
      from free
      where task.run_id = free.run_id
    )
    select task.run_id as "runId" from runs.tasks as task
    join held on held.run_id = task.run_id and held.fence = task.fence
    where task.worker_id is not null
  `);
  return rows.map((row) => row.runId);
}

/** Gives leases back: the tasks are due after the pause, and it does not count as a take-over. */
export async function giveBackLeases(
  database: Queryable,
  leases: readonly { runId: string; fence: number }[],
  pauseMs: number,
): Promise<void> {
  await database.query(sql.prepared("task_give_back", nothing)`
    with ${lockedLeasesCte(leases)}
    update runs.tasks as task
    set due_at = now() + ${pauseMs} * interval '1 millisecond', worker_id = null
    from locked
    where task.run_id = locked.run_id
  `);
}

/** The first pause of a task whose execution came to nothing, and the longest. */
export const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 60_000;

/**
 * Gives leases back whose executions came to nothing. Each pause is twice the last one, until the task
 * makes progress. It does not count as a take-over.
 */
export async function postponeLeases(
  database: Queryable,
  leases: readonly { runId: string; fence: number }[],
): Promise<void> {
  await database.query(sql.prepared("task_postpone", nothing)`
    with ${lockedLeasesCte(leases)}
    update runs.tasks as task
    set due_at = now() + interval '1 millisecond'
        * least(${RETRY_MS_MIN} * power(2, least(task.attempts, 20)), ${RETRY_MS_MAX}),
      attempts = task.attempts + 1,
      worker_id = null
    from locked
    where task.run_id = locked.run_id
  `);
}

/** Gives back the tasks that a worker has leased without knowing of them. */
export async function disownTasks(
  database: Queryable,
  workerId: string,
  knownRunIds: readonly string[],
): Promise<void> {
  await database.query(sql.type(nothing)`
    with locked as (
      select run_id from runs.tasks
      where worker_id = ${workerId} and run_id <> all(${sql.array([...knownRunIds], "text")})
      order by run_id
      for update
    )
    update runs.tasks as task
    set due_at = now(), worker_id = null
    from locked
    where task.run_id = locked.run_id
  `);
}

/** The leases that still hold, of those given. Their tasks are locked in the common order. */
function lockedLeasesCte(leases: readonly { runId: string; fence: number }[]): SqlFragment {
  return sql.fragment`
    locked as (
      select task.run_id
      from runs.tasks as task
      join ${sql.unnest(
        leases.map((lease) => [lease.runId, lease.fence]),
        ["text", "int8"],
      )} as held (run_id, fence) on held.run_id = task.run_id and held.fence = task.fence
      where task.worker_id is not null
      order by task.run_id
      for update of task
    )`;
}

/** Locks tasks in the order that all who lock several use, so that two never wait for each other. */
function lockedTasksCte(runIds: readonly string[]): SqlFragment {
  return sql.fragment`
    locked as (
      select run_id from runs.tasks
      where run_id = any(${sql.array([...runIds], "text")})
      order by run_id
      for update
    )`;
}

/** One settlement in the form that the statement takes. */
export interface SettlementRow {
  runId: string;
  fence: number;
  next: "keep" | "done" | "park";
  /** Only for `park`: when the task becomes due, in milliseconds; null means not by itself. */
  forMs: number | null;
}

/** Locks tasks whose fence is still the newest: CTEs of which the last is `held (run_id, …)`. */
export function heldTasksCte(rows: readonly SettlementRow[]): SqlFragment {
  return sql.fragment`
    settlement as (
      select * from ${sql.unnest(
        rows.map((row) => [row.runId, row.fence, row.next, row.forMs]),
        ["text", "int8", "text", "float8"],
      )} as settlement (run_id, fence, next, for_ms)
    ), held as materialized (
      select settlement.*
      from settlement
      join runs.tasks as task on task.run_id = settlement.run_id and task.fence = settlement.fence
      order by task.run_id
      for update of task
    )`;
}

/**
 * Settles those of the tasks of `heldTasksCte` that are in `changed (run_id)`: CTEs. A task that was
 * woken while it was leased is due at once instead of being parked.
 */
export function settleTasksCte(leaseMs: number): SqlFragment {
  return sql.fragment`
    done as (
      delete from runs.tasks as task
      using held as settlement
      where task.run_id = settlement.run_id and task.fence = settlement.fence
        and settlement.next = 'done' and task.run_id in (select run_id from changed)
    ), going_on as (
      update runs.tasks as task
      set due_at = case
          when settlement.next = 'keep' then now() + ${leaseMs} * interval '1 millisecond'
          when task.woken then now()
          else coalesce(now() + settlement.for_ms * interval '1 millisecond', 'infinity')
        end,
        worker_id = case when settlement.next = 'keep' then task.worker_id end,
        woken = task.woken and settlement.next = 'keep',
        takeovers = 0,
        attempts = 0
      from held as settlement
      where task.run_id = settlement.run_id and task.fence = settlement.fence
        and settlement.next <> 'done' and task.run_id in (select run_id from changed)
    )`;
}

/**
 * Marks that executions under valid leases have begun: CTEs of which the last is `begun (run_id)`. The
 * take-overs of a task's earlier executions stay counted.
 */
export function beginTasksCte(leases: readonly { runId: string; fence: number }[]): SqlFragment {
  return sql.fragment`
    ${lockedLeasesCte(leases)}, begun as (
      update runs.tasks as task
      set begun = true
      from locked
      where task.run_id = locked.run_id
      returning task.run_id
    )`;
}

/** Marks that executions have begun, and returns the run ids of the leases that still hold. */
export async function beginTasks(
  database: Queryable,
  leases: readonly { runId: string; fence: number }[],
): Promise<readonly string[]> {
  const rows = await database.any(sql.prepared("task_begin", runIdRow)`
    with ${beginTasksCte(leases)} select run_id as "runId" from begun
  `);
  return rows.map((row) => row.runId);
}

/** Settles tasks and returns the run ids of those whose fence was still the newest. */
export async function settleTasks(
  queryable: Queryable,
  rows: readonly SettlementRow[],
  leaseMs: number,
): Promise<readonly string[]> {
  const settled = await queryable.any(sql.prepared("task_settle", runIdRow)`
    with ${heldTasksCte(rows)}, changed as (
      select run_id from held
    ), ${settleTasksCte(leaseMs)}
    select run_id as "runId" from held
  `);
  return settled.map((row) => row.runId);
}

/** Deletes tasks. Leases on them are lost. */
export async function deleteTasks(transaction: Transaction, runIds: readonly string[]) {
  await transaction.query(sql.prepared("task_delete", nothing)`
    with ${lockedTasksCte(runIds)}
    delete from runs.tasks where run_id in (select run_id from locked)
  `);
}

/**
 * Makes parked tasks due. A leased task is marked, so that it is due as soon as it is parked. Returns the
 * run ids of the leased ones.
 */
export async function wakeTasks(
  transaction: Transaction,
  runIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await transaction.any(sql.prepared("task_wake", wokenRow)`
    with ${lockedTasksCte(runIds)}
    update runs.tasks as task
    set due_at = case when task.worker_id is null then least(task.due_at, now()) else task.due_at end,
      woken = task.worker_id is not null
    from locked
    where task.run_id = locked.run_id
    returning task.run_id as "runId", task.woken
  `);
  return rows.filter((row) => row.woken).map((row) => row.runId);
}

/** The worker that holds a task, and whether it is due; null when there is no such task. */
export async function findTask(database: Queryable, runId: string) {
  return database.maybeOne(sql.prepared("task_find", statusRow)`
    select worker_id as "workerId", due_at <= now() as due from runs.tasks where run_id = ${runId}
  `);
}
