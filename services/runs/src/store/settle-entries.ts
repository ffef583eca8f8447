import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { oldestRun } from "./oldest-run.ts";

const settledRow = z.object({ runId: z.string(), written: z.boolean(), entry: z.int() });

/** An entry whose answer never came. */
export interface UnsureEntry {
  runId: string;
  /** The run's epoch, and the number of the entry that it was to follow. */
  fence: number;
  after: number;
}

/** Whether it was written, and the number that the next entry has to follow. */
export type SettledEntry = z.infer<typeof settledRow>;

/**
 * Finds out which entries were written and moves the journals on, so that an entry that arrives late is
 * refused. It waits for entries that are being written. A run is left out when another lease has acquired
 * it since: this lease writes nothing more for it.
 */
export async function settleEntries(
  queryable: Queryable,
  entries: readonly UnsureEntry[],
): Promise<readonly SettledEntry[]> {
  const runIds = entries.map(({ runId }) => runId);
  return queryable.any(sql.prepared("journal_settle", settledRow)`
    with entry as (
      select * from ${sql.unnest(
        entries.map(({ runId, fence, after }) => [runId, fence, after]),
        ["text", "int8", "int8"],
      )} as entry (run_id, fence, after)
    ), locked as materialized (
      select run.id, run.journal_entry as stands, entry.after
      from entry
      join runs.runs as run on run.id = entry.run_id and run.epoch = entry.fence
      where run.journal_entry in (entry.after, entry.after + 1)
        and run.id = any(${sql.array(runIds, "text")}) and run.id >= ${oldestRun(runIds)}
      order by run.id
      for update of run
    )
    update runs.runs as run
    set journal_entry = locked.after + 2
    from locked
    where run.id = locked.id
      and run.id = any(${sql.array(runIds, "text")}) and run.id >= ${oldestRun(runIds)}
    returning run.id as "runId", locked.stands = locked.after + 1 as written,
      run.journal_entry as entry
  `);
}
