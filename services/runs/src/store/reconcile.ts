import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { LIVE_STATUSES, TRIGGER_TYPES } from "../domain/run-status.ts";
import { oldestRun } from "./oldest-run.ts";

const acquiredRow = z.object({ acquired: z.boolean() });
const companyRow = z.object({ companyId: z.string() });
const runIdRow = z.object({ runId: z.string() });

/** Takes the lock of the one process that reconciles, until the transaction ends. */
export async function tryLockReconciliation(transaction: Transaction): Promise<boolean> {
  const { acquired } = await transaction.one(sql.prepared("reconcile_lock", acquiredRow)`
    select pg_try_advisory_xact_lock(hashtextextended('runs reconcile', 0)) as acquired
  `);
  return acquired;
}

/** The next companies that have runs, found by jumping along the index. */
export async function listCompanies(
  queryable: Queryable,
  after: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await queryable.any(sql.prepared("reconcile_companies", companyRow)`
    with recursive company (company_id, number) as (
      (
        select company_id, 1 from runs.runs
        where company_id > ${after} order by company_id limit 1
      )
      union all
      select next.company_id, company.number + 1
      from company
      cross join lateral (
        select run.company_id from runs.runs as run
        where run.company_id > company.company_id order by run.company_id limit 1
      ) as next
      where company.number < ${limit}
    )
    select company_id as "companyId" from company order by company_id
  `);
  return rows.map(({ companyId }) => companyId);
}

/** Live runs of a company that share a trigger and a status: a range of the index. */
export interface LiveRange {
  companyId: string;
  triggerType: string;
  status: string;
}

const pageRow = z.object({
  companyId: z.string(),
  triggerType: z.string(),
  status: z.string(),
  seen: z.number(),
  lastId: z.string(),
  withoutTask: z.array(z.string()),
});

/** The result of checking the first runs of a range. */
export type RangePage = z.infer<typeof pageRow>;

/** Every range of live runs that these companies can have. */
export function liveRangesOf(companyIds: readonly string[]): LiveRange[] {
  return companyIds.flatMap((companyId) =>
    TRIGGER_TYPES.flatMap((triggerType) =>
      LIVE_STATUSES.map((status) => ({ companyId, triggerType, status })),
    ),
  );
}

/**
 * Checks up to `limit` runs of each range, newest first, from below an id where one is given. A run and
 * its task are written together, and this query sees one snapshot: a run without a task will get none.
 */
export async function findRunsWithoutTask(
  queryable: Queryable,
  ranges: readonly (LiveRange & { beforeId?: string })[],
  limit: number,
): Promise<readonly RangePage[]> {
  return queryable.any(sql.prepared("reconcile_runs", pageRow)`
    select live_range.company_id as "companyId", live_range.trigger_type as "triggerType",
      live_range.status, count(*)::integer as seen, min(live.id) as "lastId",
      coalesce(array_agg(live.id) filter (where task.run_id is null), '{}') as "withoutTask"
    from ${sql.unnest(
      ranges.map(({ companyId, triggerType, status, beforeId }) => [
        companyId,
        triggerType,
        status,
        beforeId ?? AFTER_ALL_IDS,
      ]),
      ["uuid", "text", "text", "text"],
    )} as live_range (company_id, trigger_type, status, before_id)
    cross join lateral (
      select run.id from runs.runs as run
      where run.company_id = live_range.company_id
        and run.trigger_type = live_range.trigger_type
        and run.status = live_range.status
        and run.id < live_range.before_id
      order by run.id desc
      limit ${limit}
    ) as live
    left join runs.tasks as task on task.run_id = live.id
    group by 1, 2, 3
  `);
}

/** Sorts after all ids, which begin with `run_` and go on in lower case. */
const AFTER_ALL_IDS = "run_~";

/**
 * Gives live runs a task that is due, unless they have one. The fence is a time, so it is greater than
 * any counted one. A worker that still executes the run on a lost task can't write.
 */
export async function insertMissingTasks(
  transaction: Transaction,
  runIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await transaction.any(sql.prepared("reconcile_insert_tasks", runIdRow)`
    insert into runs.tasks (run_id, company_id, fence)
    select id, company_id, floor(extract(epoch from clock_timestamp()) * 1000)::bigint
    from runs.runs
    where id = any(${sql.array([...runIds], "text")}) and id >= ${oldestRun(runIds)}
      and completed_at is null
    order by id
    on conflict do nothing
    returning run_id as "runId"
  `);
  return rows.map(({ runId }) => runId);
}

const removedRow = z.object({ lastId: z.string().nullable(), removed: z.array(z.string()) });

/** Checks the tasks after an id and removes those whose run has ended or is gone. */
export async function removeTasksWithoutRun(
  transaction: Transaction,
  afterId: string,
  limit: number,
): Promise<z.infer<typeof removedRow>> {
  return transaction.one(sql.prepared("reconcile_tasks", removedRow)`
    with page as materialized (
      select run_id from runs.tasks where run_id > ${afterId} order by run_id limit ${limit}
    ), gone as (
      select task.run_id
      from page
      join runs.tasks as task on task.run_id = page.run_id
      left join lateral (
        select id, completed_at from runs.runs where id = page.run_id offset 0
      ) as run on true
      where run.id is null or run.completed_at is not null
      order by task.run_id
      for update of task skip locked
    ), removed as (
      delete from runs.tasks as task using gone where task.run_id = gone.run_id
      returning task.run_id
    )
    select (select max(run_id) from page) as "lastId",
      array(select run_id from removed) as removed
  `);
}

const slotRow = z.object({ runId: z.string(), workflowId: z.string(), hasEnded: z.boolean() });

/** The slots and queue entries after an id, and whether their run has ended or is gone. */
export async function listSlots(
  queryable: Queryable,
  afterId: string,
  limit: number,
): Promise<readonly z.infer<typeof slotRow>[]> {
  return queryable.any(sql.prepared("reconcile_slots", slotRow)`
    select slot.run_id as "runId", slot.workflow_id as "workflowId",
      (run.id is null or run.completed_at is not null) as "hasEnded"
    from (
      select run_id, workflow_id from runs.concurrency_slots
      where run_id > ${afterId} order by run_id limit ${limit}
    ) as slot
    left join lateral (
      select id, completed_at from runs.runs where id = slot.run_id offset 0
    ) as run on true
    order by slot.run_id
  `);
}

/** Ended runs of these companies with a waiting approval, by the oldest approvals of each company. */
export async function listEndedWithApproval(
  queryable: Queryable,
  companyIds: readonly string[],
  limit: number,
): Promise<readonly string[]> {
  const rows = await queryable.any(sql.prepared("reconcile_approvals", runIdRow)`
    select distinct run.id as "runId"
    from ${sql.unnest(
      companyIds.map((companyId) => [companyId]),
      ["uuid"],
    )} as company (id)
    cross join lateral (
      select run_id from runs.approvals
      where company_id = company.id and status = 'waiting'
      order by id
      limit ${limit}
    ) as approval
    cross join lateral (
      select id from runs.runs
      where id = approval.run_id and completed_at is not null
      offset 0
    ) as run
    order by 1
  `);
  return rows.map(({ runId }) => runId);
}
