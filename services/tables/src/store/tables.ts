import { sql } from "@workflow/db";
import type { Queryable, SqlFragment, Transaction } from "@workflow/db";
import { z } from "zod";
import type { TableContent } from "../domain/new-table.ts";
import { columnsText, tableNotFound } from "./states.ts";
import type { TableKey, TableName } from "./states.ts";

const tableRow = z.object({
  id: z.string(),
  tableKey: z.number(),
  name: z.string(),
  description: z.string().nullable(),
  columns: columnsText,
  schemaJson: z.string(),
  metadataJson: z.string(),
  maxRows: z.number(),
  rowCount: z.number(),
  rowEvents: z.boolean(),
  folderId: z.string().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
});

/** A table without its rows. */
export type TableRow = z.output<typeof tableRow>;

/** The columns of a `tableRow`, from tables with the aliases `table` and `state`. */
const tableColumns: SqlFragment = sql.fragment`
  "table".id,
  "table".key as "tableKey",
  "table".name,
  "table".description,
  coalesce("table".schema -> 'columns', '[]')::text as "columns",
  "table".schema::text as "schemaJson",
  "table".metadata::text as "metadataJson",
  state.max_rows as "maxRows",
  state.row_count as "rowCount",
  "table".row_events as "rowEvents",
  "table".folder_id as "folderId",
  "table".created_at as "createdAt",
  "table".updated_at as "updatedAt"
`;

/**
 * A table of a company.
 * @throws AppError NOT_FOUND for a table that is missing or of another company
 */
export async function getTable(
  database: Queryable,
  { companyId, tableId }: TableName,
): Promise<TableRow> {
  const row = await database.maybeOne(sql.prepared("tables_get", tableRow)`
    select ${tableColumns}
    from tables.tables as "table"
    join tables.table_states as state on state.table_key = "table".key
    where "table".id = ${tableId} and "table".company_id = ${companyId}
  `);
  if (row === null) throw tableNotFound();
  return row;
}

/** All tables of a company, newest first. */
export async function listTables(
  database: Queryable,
  companyId: string,
): Promise<readonly TableRow[]> {
  return database.any(sql.prepared("tables_list", tableRow)`
    select ${tableColumns}
    from tables.tables as "table"
    join tables.table_states as state on state.table_key = "table".key
    where "table".company_id = ${companyId}
    order by "table".created_at desc, "table".id desc
  `);
}

/** The key of a table; null when the company has no such table. */
export async function findTableKey(
  database: Queryable,
  { companyId, tableId }: TableName,
): Promise<TableKey | null> {
  const row = await database.maybeOne(sql.prepared(
    "tables_key",
    z.object({ tableKey: z.number() }),
  )`
    select "table".key as "tableKey"
    from tables.tables as "table"
    where "table".id = ${tableId} and "table".company_id = ${companyId}
  `);
  return row === null ? null : { companyId, tableKey: row.tableKey };
}

/** Stores a table with this many rows, which have the positions from 0 on. */
export async function insertTable(
  transaction: Transaction,
  { companyId, tableId }: TableName,
  content: TableContent & { folderId: string | null },
  rowCount: number,
): Promise<TableKey> {
  const { tableKey } = await transaction.one(sql.prepared(
    "tables_insert",
    z.object({ tableKey: z.number() }),
  )`
    with "table" as (
      insert into tables.tables (
        id, company_id, name, description, schema, metadata, folder_id, row_events
      )
      values (
        ${tableId}, ${companyId}, ${content.name}, ${content.description}, ${content.schemaJson},
        ${content.metadataJson}, ${content.folderId}, ${content.rowEvents}
      )
      returning key, company_id
    )
    insert into tables.table_states (
      table_key, company_id, max_rows, row_count, next_position, revision
    )
    select
      "table".key, "table".company_id, ${content.maxRows}, ${rowCount}::integer,
      ${rowCount}::integer, ${rowCount === 0 ? 0 : 1}::bigint
    from "table"
    returning table_key as "tableKey"
  `);
  return { companyId, tableKey };
}

/** Stores the description of a table. The transaction must hold the lock of its state. */
export async function updateTable(
  transaction: Transaction,
  { companyId, tableKey }: TableKey,
  content: TableContent,
): Promise<void> {
  await transaction.query(sql.prepared("tables_update", z.object({}))`
    with state as (
      update tables.table_states
      set max_rows = ${content.maxRows}, schema_revision = schema_revision + 1
      where table_key = ${tableKey} and company_id = ${companyId}
    )
    update tables.tables
    set
      name = ${content.name},
      description = ${content.description},
      schema = ${content.schemaJson},
      metadata = ${content.metadataJson},
      row_events = ${content.rowEvents},
      updated_at = clock_timestamp()
    where key = ${tableKey} and company_id = ${companyId}
  `);
}

/**
 * Moves a table into a folder, or into the root. The transaction must hold the lock of its state.
 */
export async function setFolder(
  transaction: Transaction,
  { companyId, tableKey }: TableKey,
  folderId: string | null,
): Promise<void> {
  await transaction.query(sql.prepared("tables_set_folder", z.object({}))`
    update tables.tables
    set folder_id = ${folderId}, updated_at = clock_timestamp()
    where key = ${tableKey} and company_id = ${companyId}
  `);
}

/**
 * Deletes a table with everything that belongs to it. The transaction must hold the lock of its state. A write that
 * waits for the lock finds no table afterwards. 100,000 rows of 8 columns take 0.2 to 0.5 s.
 */
export async function deleteTable(
  transaction: Transaction,
  { companyId, tableKey }: TableKey,
): Promise<void> {
  // The state is deleted first, so that the bytes of the rows need not be counted.
  await transaction.query(sql.prepared("table_states_delete", z.object({}))`
    delete from tables.table_states
    where table_key = ${tableKey} and company_id = ${companyId}
  `);
  await transaction.query(sql.prepared("rows_delete_all", z.object({}))`
    delete from tables.rows
    where table_key = ${tableKey}
  `);
  await transaction.query(sql.prepared("row_deletions_delete_all", z.object({}))`
    delete from tables.row_deletions
    where table_key = ${tableKey}
  `);
  await transaction.query(sql.prepared("row_write_keys_delete_all", z.object({}))`
    delete from tables.row_write_keys
    where table_key = ${tableKey}
  `);
  await transaction.query(sql.prepared("tables_delete", z.object({}))`
    delete from tables.tables
    where key = ${tableKey} and company_id = ${companyId}
  `);
}
