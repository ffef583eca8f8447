import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const statusRow = z.object({ status: z.string(), runs: z.number(), oldestAgeSeconds: z.number() });

/** Live runs of one status. */
export interface LiveRuns {
  runs: number;
  /** The age of the oldest run. */
  oldestAgeSeconds: number;
}

/**
 * Live runs by status, counted by their tasks, at most `limit` of them. With `offset 0` each is looked up
 * in its own partition, instead of all partitions being joined.
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
