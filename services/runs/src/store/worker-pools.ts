import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { DEFAULT_POOL } from "../domain/worker-pool.ts";
import type { PoolRule } from "../domain/worker-pool.ts";

const nothing = z.object({});
const ruleRow = z.object({ companyId: z.string(), tag: z.string().nullable(), pool: z.string() });

/** The rules of all companies. The table has few rows, which operators write. */
export async function listPoolRules(queryable: Queryable): Promise<readonly PoolRule[]> {
  return queryable.any(sql.prepared("pool_rules", ruleRow)`
    select company_id as "companyId", tag, pool from runs.worker_pools
    order by company_id, tag nulls last
  `);
}

/** Stores a rule. It replaces one for the same company and tag. */
export async function setPoolRule(queryable: Queryable, rule: PoolRule): Promise<void> {
  await queryable.query(sql.type(nothing)`
    insert into runs.worker_pools (company_id, tag, pool)
    values (${rule.companyId}, ${rule.tag}, ${rule.pool})
    on conflict on constraint worker_pools_key do update set pool = excluded.pool
  `);
}

/** Removes a rule; returns the pool that it named, or null when there was none. */
export async function removePoolRule(
  queryable: Queryable,
  { companyId, tag }: Omit<PoolRule, "pool">,
): Promise<string | null> {
  const removed = await queryable.maybeOne(sql.type(z.object({ pool: z.string() }))`
    delete from runs.worker_pools
    where company_id = ${companyId} and tag is not distinct from ${tag}
    returning pool
  `);
  return removed?.pool ?? null;
}

const lockRow = z.object({ acquired: z.boolean() });

/**
 * Takes the lock of the one process that moves tasks, until the end of the transaction. False when
 * another holds it.
 */
export async function tryLockPools(transaction: Transaction): Promise<boolean> {
  const { acquired } = await transaction.one(sql.prepared("pools_lock", lockRow)`
    select pg_try_advisory_xact_lock(hashtextextended('runs pools', 0)) as acquired
  `);
  return acquired;
}

/** Whether any task is in a pool of its own. */
export async function hasPooledTasks(queryable: Queryable): Promise<boolean> {
  const row = await queryable.one(sql.prepared("pools_used", z.object({ used: z.boolean() }))`
    select exists (select from runs.tasks where pool < ${DEFAULT_POOL})
      or exists (select from runs.tasks where pool > ${DEFAULT_POOL}) as used
  `);
  return row.used;
}

const movedRow = z.object({ lastId: z.string().nullable(), moved: z.number() });

/**
 * Checks the tasks after an id, and moves those that are in another pool than the rules say. Tasks that
 * are being executed go on where they are, and belong to the new pool from their next rest on.
 */
export async function moveTasks(
  transaction: Transaction,
  afterId: string,
  limit: number,
): Promise<z.infer<typeof movedRow>> {
  return transaction.one(sql.prepared("pools_move", movedRow)`
    with page as materialized (
      select run_id, company_id, pool from runs.tasks
      where run_id > ${afterId} order by run_id limit ${limit}
    ), wrong as (
      select page.run_id, coalesce(rule.pool, ${DEFAULT_POOL}) as pool
      from page
      cross join lateral (
        select deployment_id from runs.runs where id = page.run_id offset 0
      ) as run
      join runs.deployments as deployment on deployment.id = run.deployment_id
      left join lateral (
        select pool from runs.worker_pools as rule
        where rule.company_id = page.company_id
          and (rule.tag is null or rule.tag = any(deployment.tags))
        order by rule.tag nulls last
        limit 1
      ) as rule on true
      where (
          page.pool <> ${DEFAULT_POOL}
          or page.company_id in (select company_id from runs.worker_pools)
        )
        and page.pool <> coalesce(rule.pool, ${DEFAULT_POOL})
    ), free as (
      select task.run_id, wrong.pool
      from wrong
      join runs.tasks as task on task.run_id = wrong.run_id
      order by task.run_id
      for update of task skip locked
    ), moved as (
      update runs.tasks as task set pool = free.pool
      from free
      where task.run_id = free.run_id
      returning task.run_id
    )
    select (select max(run_id) from page) as "lastId",
      (select count(*)::integer from moved) as moved
  `);
}

const poolRow = z.object({
  pool: z.string(),
  due: z.number(),
  oldestAgeSeconds: z.number(),
  postponed: z.number(),
});

/** The due tasks of one pool. */
export type PoolFigures = z.infer<typeof poolRow>;

/**
 * The longest pause of a task whose execution came to nothing. A task due after a longer time was not
 * postponed.
 */
const PAUSE_SECONDS_MAX = 60;

/** The pools and tasks to measure. */
interface PoolMeasure {
  /** A pool that is measured though it may have neither tasks nor rules, as the default one is. */
  served?: string | undefined;
  /** The number of tasks of each pool that are counted. */
  limit: number;
}

/**
 * The due tasks of each pool that has tasks, that a rule names or that is served, at most `limit` of each,
 * read along the index.
 */
export async function measurePools(
  queryable: Queryable,
  { served = DEFAULT_POOL, limit }: PoolMeasure,
): Promise<readonly PoolFigures[]> {
  return queryable.any(sql.prepared("figures_pools", poolRow)`
    with recursive used (pool) as (
      (select pool from runs.tasks order by pool limit 1)
      union all
      select next.pool
      from used
      cross join lateral (
        select task.pool from runs.tasks as task
        where task.pool > used.pool order by task.pool limit 1
      ) as next
    ), named as (
      select pool from used
      union
      select pool from runs.worker_pools
      union
      values (${DEFAULT_POOL}), (${served})
    )
    select named.pool, figures.due, figures."oldestAgeSeconds", figures.postponed
    from named
    cross join lateral (
      select
        count(*) filter (where due_at <= now())::integer as due,
        coalesce(greatest(0, extract(epoch from now() - min(due_at))), 0)::float8
          as "oldestAgeSeconds",
        count(*) filter (where attempts > 0)::integer as postponed
      from (
        select due_at, attempts from runs.tasks as task
        where task.pool = named.pool
          and task.due_at <= now() + ${PAUSE_SECONDS_MAX} * interval '1 second'
        order by task.due_at
        limit ${limit}
      ) as near
    ) as figures
    order by named.pool
  `);
}
