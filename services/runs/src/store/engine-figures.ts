import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const tasksRow = z.object({
  due: z.number(),
  oldestAgeSeconds: z.number(),
  postponed: z.number(),
});

/** The longest pause of a task that came to nothing: what is due later was not postponed. */
const PAUSE_SECONDS_MAX = 60;

/** What is due, along the index by due time and no further than `limit` tasks. */
export async function measureTasks(
  queryable: Queryable,
  limit: number,
): Promise<z.infer<typeof tasksRow>> {
  return queryable.one(sql.prepared("figures_tasks", tasksRow)`
    with near as materialized (
      select due_at, attempts from runs.tasks
      where due_at <= now() + ${PAUSE_SECONDS_MAX} * interval '1 second'
      order by due_at
      limit ${limit}
    )
    select
      count(*) filter (where due_at <= now())::integer as due,
      coalesce(greatest(0, extract(epoch from now() - min(due_at))), 0)::float8
        as "oldestAgeSeconds",
      count(*) filter (where attempts > 0)::integer as postponed
    from near
  `);
}

const statusRow = z.object({ status: z.string(), runs: z.number(), oldestAgeSeconds: z.number() });

/** Live runs of one status. */
export interface LiveRuns {
  runs: number;
  /** Of the one that was created first. */
  oldestAgeSeconds: number;
}

/**
 * Live runs by status: those that have a task, no more than `limit` of them. With `offset 0` each is looked
 * up in its own partition, instead of all partitions being joined.
 */
export async function countLiveRuns(
  queryable: Queryable,
  limit: number,
): Promise<ReadonlyMap<string, LiveRuns>> {
  const rows = await queryable.any(sql.prepared("figures_live_runs", statusRow)`
    select run.status, count(*)::integer as runs,
      greatest(0, extract(epoch from now() - min(run.created_at)))::float8 as "oldestAgeSeconds"
    from (select run_id from runs.tasks limit ${limit}) as task
    cross join lateral (select status, created_at from runs.runs where id = task.run_id offset 0) as run
    group by run.status
  `);
  return new Map(rows.map(({ status, ...live }) => [status, live]));
}
