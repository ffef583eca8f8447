import { sql } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import { z } from "zod";

/** Deletions are remembered for longer than a process keeps columns without looking for changes. */
const REMEMBERED_MINUTES = 15;
const TABLES_MAX = 100;

const oldDeletions = z.object({ tableKey: z.number(), revision: z.number() });

/**
 * Forgets deletions of more than 15 minutes ago. Processes with columns of an older revision read
 * `deletions_forgotten_to` and load the columns again. The result is `"again"` when more may be left to forget.
 */
export async function forgetOldDeletions(database: Database): Promise<"again" | void> {
  const tables = await database.any(sql.prepared("row_deletions_old", oldDeletions)`
    select deletion.table_key as "tableKey", max(deletion.revision) as "revision"
    from tables.row_deletions as deletion
    where deletion.deleted_at < now() - make_interval(mins => ${REMEMBERED_MINUTES})
    group by deletion.table_key
    limit ${TABLES_MAX}
  `);
  for (const table of tables) {
    await database.transaction((transaction) => forgetDeletions(transaction, table));
  }
  return tables.length === TABLES_MAX ? "again" : undefined;
}

/** The state's row is locked first, as by every write. A deleted table has no such row any more. */
async function forgetDeletions(
  transaction: Transaction,
  { tableKey, revision }: z.infer<typeof oldDeletions>,
): Promise<void> {
  await transaction.query(sql.prepared("table_states_forget", z.object({}))`
    update tables.table_states as state
    set deletions_forgotten_to = greatest(state.deletions_forgotten_to, ${revision})
    where state.table_key = ${tableKey}
  `);
  await transaction.query(sql.prepared("row_deletions_forget", z.object({}))`
    delete from tables.row_deletions as deletion
    where deletion.table_key = ${tableKey} and deletion.revision <= ${revision}
  `);
}
