import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const partitionRow = z.object({ fromId: z.string(), toId: z.string(), end: z.date() });
const doneRow = z.object({ done: z.boolean() });

/** A range of ids, and of time, whose runs lie in partitions of their own. */
export interface Partition {
  /** Inclusive; empty for the first one. */
  fromId: string;
  /** Exclusive. */
  toId: string;
  /** Runs that were accepted from this moment on lie in a later partition. */
  end: Date;
}

/** How far ahead partitions are made, so that every new run finds one. */
const AHEAD = sql.fragment`interval '3 months'`;

/**
 * Makes the partitions of the months to come. If they exist it takes no lock: a process that starts while
 * another one drops a large partition does not wait.
 */
export async function makePartitions(queryable: Queryable): Promise<void> {
  await queryable.query(sql.type(nothing)`
    select runs.make_partitions(now() + ${AHEAD})
    where not exists (
      select from runs.list_partitions('runs')
      where to_id > runs.run_id_at(now() + ${AHEAD}) collate "C"
    )
  `);
}

/** All partitions, the oldest first. */
export async function listPartitions(queryable: Queryable): Promise<readonly Partition[]> {
  return queryable.any(sql.type(partitionRow)`
    select coalesce(from_id, '') as "fromId", to_id as "toId",
      runs.run_accepted_at(to_id) as "end"
    from runs.list_partitions('runs')
    order by to_id collate "C"
  `);
}

/**
 * Detaches a partition with everything in it: from then on its runs do not exist. False when a run in it
 * may still be alive.
 *
 * @param waitMs how long it may wait for the tables, and make others wait behind it
 * @throws Error with SQLSTATE 55P03 when the tables were not free in that time
 */
export async function detachPartition(
  queryable: Queryable,
  { toId }: Partition,
  waitMs: number,
): Promise<boolean> {
  const { done } = await queryable.one(sql.type(doneRow)`
    select runs.detach_partitions(${toId}, ${waitMs}) as done
  `);
  return done;
}

/** Frees the space of detached partitions. */
export async function dropDetachedPartitions(queryable: Queryable): Promise<void> {
  await queryable.query(sql.type(nothing)`select runs.drop_detached_partitions()`);
}
