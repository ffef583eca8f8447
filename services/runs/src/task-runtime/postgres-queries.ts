import { sql } from "@workflow/db";
import type { Queryable, SqlFragment, Transaction } from "@workflow/db";
import { z } from "zod";

const runIdRow = z.object({ run_id: z.string() });
const claimRow = z.object({
  run_id: z.string().nullable(),
  fence: z.number(),
  takeovers: z.number(),
  next_due_in_ms: z.number().nullable(),
});
const statusRow = z.object({ worker_id: z.string().nullable(), due: z.boolean() });
const nothing = z.object({});
const wokenRow = z.object({ run_id: z.string(), woken: z.boolean() });

/** A task as a claim returns it. */
export interface ClaimedTask {
  runId: string;
  fence: number;
  takeovers: number;
}

/** What a claim found. */
export interface Claim {
  tasks: ClaimedTask[];
  /** Milliseconds until a further task becomes due; null when none will by itself. */
  nextDueInMs: number | null;
}

/** Inserts tasks, due at once, for the rows of `accepted (id)`. */
export const INSERT_TASKS_OF_ACCEPTED = sql.fragment`
  insert into runs.tasks (run_id) select id from accepted
`;

/** Inserts tasks that are due at once. */
export async function insertTasks(transaction: Transaction, runIds: readonly string[]) {
  await transaction.query(sql.prepared("task_insert", nothing)`
    insert into runs.tasks (run_id)
    select run_id from ${sql.unnest(
      runIds.map((runId) => [runId]),
      ["text"],
    )} as task (run_id)
  `);
}

/**
 * Claims due tasks, oldest first, for one lease. SKIP LOCKED lets any number of workers claim side
 * by side; a claim of a task that still names a worker is a take-over.
 */
export async function claimTasks(
  database: Queryable,
  claim: { workerId: string; leaseMs: number; limit: number },
): Promise<Claim> {
  const rows = await database.any(sql.prepared("task_claim", claimRow)`
    with due as (
      select run_id from runs.tasks
      where due_at <= now()
      order by due_at
      limit ${claim.limit}
      for update skip locked
    ), claimed as (
      update runs.tasks as task
      set due_at = now() + ${claim.leaseMs} * interval '1 millisecond',
        fence = task.fence + 1,
        takeovers = task.takeovers + (task.worker_id is not null)::integer,
        worker_id = ${claim.workerId},
        woken = false
      from due
      where task.run_id = due.run_id
      returning task.run_id, task.fence, task.takeovers
    )
    select run_id, fence, takeovers, null::float8 as next_due_in_ms from claimed
    union all
    select null, 0, 0, extract(epoch from min(due_at) - now())::float8 * 1000
    from runs.tasks
    where due_at > now() and due_at < 'infinity'
  `);
  return {
    tasks: rows.flatMap(({ run_id: runId, fence, takeovers }) =>
      runId === null ? [] : [{ runId, fence, takeovers }],
    ),
    nextDueInMs: rows.find((row) => row.run_id === null)?.next_due_in_ms ?? null,
  };
}

/**
 * Moves the end of leases ahead and returns the ids of those that still hold. A task that is locked
 * is being settled, which sets its end anew; waiting for it could be a deadlock between two batches.
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
    select task.run_id from runs.tasks as task
    join held on held.run_id = task.run_id and held.fence = task.fence
    where task.worker_id is not null
  `);
  return rows.map((row) => row.run_id);
}

/** Gives leases back: the tasks are due after the pause, and it does not count as a take-over. */
export async function releaseLeases(
  database: Queryable,
  leases: readonly { runId: string; fence: number }[],
  pauseMs: number,
): Promise<void> {
  await database.query(sql.prepared("task_release", nothing)`
    update runs.tasks as task
    set due_at = now() + ${pauseMs} * interval '1 millisecond', worker_id = null
    from ${sql.unnest(
      leases.map((lease) => [lease.runId, lease.fence]),
      ["text", "int8"],
    )} as held (run_id, fence)
    where task.run_id = held.run_id and task.fence = held.fence and task.worker_id is not null
  `);
}

/** One settlement in the form that the statement takes. */
export interface SettlementRow {
  runId: string;
  fence: number;
  next: "keep" | "done" | "park";
  /** Only for `park`: when the task becomes due; null means not by itself. */
  wakeAt: Date | null;
}

/**
 * Settles tasks whose fence is still the newest: CTEs of which the last is `settled (run_id)`. A task
 * that was woken while it was leased is due at once instead of being parked.
 */
export function settleTasksCte(rows: readonly SettlementRow[], leaseMs: number): SqlFragment {
  return sql.fragment`
    settlement as (
      select * from ${sql.unnest(
        rows.map((row) => [row.runId, row.fence, row.next, row.wakeAt?.toISOString() ?? null]),
        ["text", "int8", "text", "timestamptz"],
      )} as settlement (run_id, fence, next, wake_at)
    ), done as (
      delete from runs.tasks as task
      using settlement
      where task.run_id = settlement.run_id and task.fence = settlement.fence
        and settlement.next = 'done'
      returning task.run_id
    ), going_on as (
      update runs.tasks as task
      set due_at = case
          when settlement.next = 'keep' then now() + ${leaseMs} * interval '1 millisecond'
          when task.woken then now()
          else coalesce(settlement.wake_at, 'infinity')
        end,
        worker_id = case when settlement.next = 'keep' then task.worker_id end,
        woken = task.woken and settlement.next = 'keep',
        takeovers = 0
      from settlement
      where task.run_id = settlement.run_id and task.fence = settlement.fence
        and settlement.next <> 'done'
      returning task.run_id
    ), settled as (
      select run_id from done
      union all
      select run_id from going_on
    )`;
}

/** Settles tasks and returns the run ids of those whose fence was still the newest. */
export async function settleTasks(
  transaction: Transaction,
  rows: readonly SettlementRow[],
  leaseMs: number,
): Promise<readonly string[]> {
  const settled = await transaction.any(sql.prepared("task_settle", runIdRow)`
    with ${settleTasksCte(rows, leaseMs)} select run_id from settled
  `);
  return settled.map((row) => row.run_id);
}

/** Deletes tasks; whoever holds a lease on one of them has lost it. */
export async function deleteTasks(transaction: Transaction, runIds: readonly string[]) {
  await transaction.query(sql.prepared("task_delete", nothing)`
    delete from runs.tasks
    where run_id in (select run_id from ${sql.unnest(
      runIds.map((runId) => [runId]),
      ["text"],
    )} as gone (run_id))
  `);
}

/**
 * Makes parked tasks due; a leased one is marked, so that it is due as soon as it is parked. Returns
 * the run ids of the leased ones.
 */
export async function wakeTasks(
  transaction: Transaction,
  runIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await transaction.any(sql.prepared("task_wake", wokenRow)`
    update runs.tasks as task
    set due_at = case when task.worker_id is null then least(task.due_at, now()) else task.due_at end,
      woken = task.worker_id is not null
    from ${sql.unnest(
      runIds.map((runId) => [runId]),
      ["text"],
    )} as woken (run_id)
    where task.run_id = woken.run_id
    returning task.run_id, task.woken
  `);
  return rows.filter((row) => row.woken).map((row) => row.run_id);
}

/** Who holds a task and whether it is due; null when there is no such task. */
export async function findTask(database: Queryable, runId: string) {
  return database.maybeOne(sql.prepared("task_find", statusRow)`
    select worker_id, due_at <= now() as due from runs.tasks where run_id = ${runId}
  `);
}
