import { sql } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const runIdRow = z.object({ runId: z.string() });

/** Notes that runs have a reason to go on. They are woken after the commit, even by another process. */
export async function insertWakeUps(
  transaction: Transaction,
  runIds: readonly string[],
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    insert into runs.wake_ups (run_id)
    select run_id from ${sql.unnest(
      runIds.map((runId) => [runId]),
      ["text"],
    )} as woken (run_id)
  `);
}

/** Takes up to `limit` noted runs, each once. They are to be woken in the same transaction. */
export async function takeWakeUps(
  transaction: Transaction,
  limit: number,
): Promise<readonly string[]> {
  const rows = await transaction.any(sql.type(runIdRow)`
    with taken as (
      delete from runs.wake_ups
      where id in (
        select id from runs.wake_ups order by id limit ${limit} for update skip locked
      )
      returning run_id
    )
    select distinct run_id as "runId" from taken order by run_id
  `);
  return rows.map((row) => row.runId);
}
