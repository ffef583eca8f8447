import { firstIdAt, sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { isTerminal, RUN_STATUSES, TRIGGER_TYPES } from "../domain/run-status.ts";
import { oldestRun } from "./oldest-run.ts";
import type { Partition } from "./partitions.ts";

const nothing = z.object({});
const idRow = z.object({ id: z.string() });
const countRow = z.object({ id: z.string(), results: z.number() });
const foundRow = z.object({ found: z.boolean() });

const ENDED = RUN_STATUSES.filter(isTerminal);
const REMOVED_RUNS_MAX = 100;
const LIVE = RUN_STATUSES.filter((status) => !isTerminal(status));

/**
 * Takes the lock of the one process that removes runs, until the transaction ends. False when another one
 * holds it.
 */
export async function tryLockRemoval(transaction: Transaction): Promise<boolean> {
  const { found } = await transaction.one(sql.type(foundRow)`
    select pg_try_advisory_xact_lock(hashtextextended('runs retention', 0)) as found
  `);
  return found;
}

/** The companies that have runs in a partition, found by jumping along the index. */
export async function listCompaniesIn(
  queryable: Queryable,
  { fromId, toId }: Partition,
): Promise<readonly string[]> {
  const rows = await queryable.any(sql.type(idRow)`
    with recursive company (id) as (
      (
        select company_id from runs.runs
        where id >= ${fromId} and id < ${toId}
        order by company_id
        limit 1
      )
      union all
      select (
        select company_id from runs.runs
        where id >= ${fromId} and id < ${toId} and company_id > company.id
        order by company_id
        limit 1
      )
      from company
      where company.id is not null
    )
    select id from company where id is not null
  `);
  return rows.map(({ id }) => id);
}

/** Whether any run of these companies in a partition has not ended. */
export async function hasLiveRuns(
  queryable: Queryable,
  companyIds: readonly string[],
  { fromId, toId }: Partition,
): Promise<boolean> {
  const { found } = await queryable.one(sql.type(foundRow)`
    select exists (
      select from runs.runs
      where company_id = any(${sql.array([...companyIds], "uuid")})
        and trigger_type = any(${sql.array([...TRIGGER_TYPES], "text")})
        and status = any(${sql.array(LIVE, "text")})
        and id >= ${fromId} and id < ${toId}
    ) as found
  `);
  return found;
}

/** Up to `limit` ended runs of a company in a partition that were accepted before a moment. */
export async function listEndedBefore(
  queryable: Queryable,
  companyId: string,
  { fromId, toId, before }: Partition & { before: Date },
  limit: number,
): Promise<readonly string[]> {
  const horizon = firstIdAt("run_", before);
  const rows = await queryable.any(sql.type(idRow)`
    select id from runs.runs
    where company_id = ${companyId}
      and trigger_type = any(${sql.array([...TRIGGER_TYPES], "text")})
      and status = any(${sql.array(ENDED, "text")})
      and id >= ${fromId} and id < ${horizon < toId ? horizon : toId}
    limit ${limit}
  `);
  return rows.map(({ id }) => id);
}

/** Deletes up to `limit` approvals of these runs; returns how many. */
export async function deleteApprovalsOf(
  queryable: Queryable,
  runIds: readonly string[],
  limit: number,
): Promise<number> {
  const result = await queryable.query(sql.type(nothing)`
    delete from runs.approvals
    where id = any(array(
      select id from runs.approvals
      where run_id = any(${sql.array([...runIds], "text")})
      limit ${limit}
    ))
  `);
  return result.rowCount;
}

/** Deletes up to `limit` approvals of the runs of a partition; returns how many. */
export async function deleteApprovalsIn(
  queryable: Queryable,
  { fromId, toId }: Partition,
  limit: number,
): Promise<number> {
  const result = await queryable.query(sql.type(nothing)`
    delete from runs.approvals
    where id = any(array(
      select id from runs.approvals where run_id >= ${fromId} and run_id < ${toId} limit ${limit}
    ))
  `);
  return result.rowCount;
}

/** Deletes runs that have ended, and notes their step results for deletion; returns how many. */
export async function deleteRuns(
  transaction: Transaction,
  runIds: readonly string[],
): Promise<number> {
  const ids = sql.array([...runIds], "text");
  const oldest = oldestRun(runIds);
  const result = await transaction.any(sql.type(idRow)`
    with gone as (
      delete from runs.runs
      where id = any(${ids}) and id >= ${oldest} and completed_at is not null
      returning id
    ), childless as (
      delete from runs.child_runs
      where parent_run_id = any(array(select id from gone)) and parent_run_id >= ${oldest}
    ), noted as (
      insert into runs.removed_runs (run_id) select id from gone
    )
    select id from gone
  `);
  return result.length;
}

/**
 * Deletes about `limit` step results of removed runs, so that a run of fifty thousand takes several
 * transactions. Returns how many rows and runs that were; 0 when none is left.
 */
export async function deleteRemovedResults(
  transaction: Transaction,
  limit: number,
): Promise<number> {
  const removed = await transaction.any(sql.prepared("results_removed", countRow)`
    select run_id as id, (
      select count(*)::integer from (
        select from runs.step_results where run_id = removed.run_id limit ${limit}
      ) as counted
    ) as results
    from runs.removed_runs as removed
    order by run_id
    limit ${REMOVED_RUNS_MAX}
  `);
  const first = removed[0];
  if (first === undefined) return 0;
  if (first.results === limit) return deleteSomeResults(transaction, first.id, limit);
  let sum = 0;
  const rest = removed.findIndex(({ results }) => (sum += results) > limit);
  const ids = (rest === -1 ? removed : removed.slice(0, rest)).map(({ id }) => id);
  const { rowCount } = await transaction.query(sql.type(nothing)`
    delete from runs.step_results
    where run_id = any(${sql.array(ids, "text")}) and run_id >= ${oldestRun(ids)}
  `);
  await transaction.query(sql.type(nothing)`
    delete from runs.removed_runs where run_id = any(${sql.array(ids, "text")})
  `);
  return rowCount + ids.length;
}

async function deleteSomeResults(
  transaction: Transaction,
  runId: string,
  limit: number,
): Promise<number> {
  const { rowCount } = await transaction.query(sql.type(nothing)`
    delete from runs.step_results
    where run_id = ${runId} and path = any(array(
      select path from runs.step_results where run_id = ${runId} limit ${limit}
    ))
  `);
  return rowCount;
}
