import { sql } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import { z } from "zod";
import type { TableKey } from "./states.ts";

const REMEMBERED_HOURS = 24;
const KEYS_MAX = 5_000;

const nothing = z.object({});
const writeRow = z.object({
  id: z.string(),
  position: z.number(),
  revision: z.number(),
  createdAt: z.date(),
});

/** A write with a key: the row that it changed, and its time. */
export type KeyedWrite = z.infer<typeof writeRow>;

/** The write of a table with this key; null when there was none in the last 24 hours. */
export async function findKeyedWrite(
  transaction: Transaction,
  { tableKey }: TableKey,
  key: string,
): Promise<KeyedWrite | null> {
  return transaction.maybeOne(sql.prepared("write_keys_find", writeRow)`
    select
      written.row_id as "id", written.position, written.revision,
      written.created_at as "createdAt"
    from tables.row_write_keys as written
    where written.table_key = ${tableKey} and written.key = ${key}
  `);
}

/** Stores a key with the result of its write. The transaction must hold the state's lock. */
export async function insertKeyedWrite(
  transaction: Transaction,
  { tableKey }: TableKey,
  key: string,
  row: Pick<KeyedWrite, "id" | "position" | "revision">,
): Promise<void> {
  await transaction.query(sql.prepared("write_keys_insert", nothing)`
    insert into tables.row_write_keys (table_key, key, row_id, position, revision)
    values (${tableKey}, ${key}, ${row.id}, ${row.position}, ${row.revision})
  `);
}

/**
 * Deletes keys older than 24 hours, also those of deleted tables. The result is `"again"` when more may be left to
 * delete.
 */
export async function forgetOldKeys(database: Database): Promise<"again" | void> {
  const { rowCount } = await database.query(sql.prepared("write_keys_forget", nothing)`
    delete from tables.row_write_keys as written
    where (written.table_key, written.key) in (
      select old.table_key, old.key
      from tables.row_write_keys as old
      where old.created_at < now() - make_interval(hours => ${REMEMBERED_HOURS})
      order by old.created_at
      limit ${KEYS_MAX}
    )
  `);
  return rowCount === KEYS_MAX ? "again" : undefined;
}
