import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const givenUpRow = z.object({ id: z.string(), runId: z.string() });

/** A run that nobody waits for any more; `id` names the note about it. */
export type GivenUpRun = z.infer<typeof givenUpRow>;

/**
 * Notes that the child of a step's attempt is to be cancelled, unless it has ended or never began. The
 * key of `child_runs` finds it; no index of the runs begins with the parent.
 */
export async function giveUpChild(
  transaction: Transaction,
  parentRunId: string,
  parentStep: string,
): Promise<void> {
  await transaction.query(sql.prepared("child_give_up", nothing)`
    insert into runs.given_up_runs (run_id)
    select run.id
    from runs.child_runs as child
    cross join lateral (
      select id from runs.runs where id = child.run_id and completed_at is null offset 0
    ) as run
    where child.parent_run_id = ${parentRunId} and child.parent_step = ${parentStep}
  `);
}

/** Runs that are to be cancelled, in the order in which they were given up; up to `limit`. */
export async function listGivenUp(
  queryable: Queryable,
  limit: number,
): Promise<readonly GivenUpRun[]> {
  return queryable.any(sql.prepared("given_up_list", givenUpRow)`
    select id::text, run_id as "runId" from runs.given_up_runs order by id limit ${limit}
  `);
}

/** Deletes the notes about runs that were cancelled. */
export async function deleteGivenUp(queryable: Queryable, ids: readonly string[]): Promise<void> {
  await queryable.query(sql.prepared("given_up_delete", nothing)`
    with locked as (
      select id from runs.given_up_runs
      where id = any(${sql.array([...ids], "int8")})
      order by id
      for update
    )
    delete from runs.given_up_runs where id in (select id from locked)
  `);
}
