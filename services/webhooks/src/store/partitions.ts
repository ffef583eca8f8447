import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const partitionRow = z.object({ name: z.string() });
const doneRow = z.object({ done: z.boolean() });
const countRow = z.object({ count: z.number() });

/** Makes the partitions of the weeks to come. */
export async function makePartitions(queryable: Queryable): Promise<void> {
  await queryable.query(sql.type(nothing)`
    select webhooks.make_partitions(now() + interval '6 weeks')
    where exists (
      select from webhooks.partitioned_tables as known
      where not exists (
        select from webhooks.list_partitions() as part
        where part.parent = known.name
          and part.upper_id collate "C"
            > webhooks.id_at(known.prefix, now() + interval '6 weeks') collate "C"
      )
    )
  `);
}

/** Partitions that ended before a moment, the oldest first. */
export async function listEndedPartitions(
  queryable: Queryable,
  keptDays: number,
): Promise<readonly string[]> {
  const rows = await queryable.any(sql.type(partitionRow)`
    select part.name
    from webhooks.list_partitions() as part
    join webhooks.partitioned_tables as known on known.name = part.parent
    where part.upper_id collate "C"
      <= webhooks.id_at(known.prefix, now() - ${keptDays} * interval '1 day') collate "C"
    order by part.upper_id collate "C"
  `);
  return rows.map(({ name }) => name);
}

/**
 * Detaches a partition, whose rows no longer exist then.
 *
 * @param waitMs the time for which it may wait for the table, while others wait behind it
 * @throws Error with SQLSTATE 55P03 when the table was not free in that time
 */
export async function detachPartition(
  queryable: Queryable,
  name: string,
  keptDays: number,
  waitMs: number,
): Promise<boolean> {
  const { done } = await queryable.one(sql.type(doneRow)`
    select webhooks.detach_partition(${name}, now() - ${keptDays} * interval '1 day', ${waitMs})
      as done
  `);
  return done;
}

/** Frees the space of detached partitions. */
export async function dropDetachedPartitions(queryable: Queryable): Promise<void> {
  await queryable.query(sql.type(nothing)`select webhooks.drop_detached_partitions()`);
}

/** Deletes senders' ids that are older than any kept event; returns how many. */
export async function deleteOldEventKeys(
  queryable: Queryable,
  keptDays: number,
  limit: number,
): Promise<number> {
  const { count } = await queryable.one(sql.type(countRow)`
    with old as (
      delete from webhooks.inbound_event_keys as claim
      using (
        select provider, company_id, key from webhooks.inbound_event_keys
        where created_at < now() - ${keptDays} * interval '1 day'
        order by created_at
        limit ${limit}
      ) as found
      where claim.provider = found.provider and claim.company_id = found.company_id
        and claim.key = found.key
      returning 1
    )
    select count(*) as count from old
  `);
  return count;
}
