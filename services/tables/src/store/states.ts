import { sql } from "@workflow/db";
import type { Queryable, SqlFragment, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { COLUMN_TYPES } from "../domain/column.ts";
import type { Column } from "../domain/column.ts";
import { bytesOfOtherTables } from "./row-bytes.ts";
import type { TableKey } from "./table-key.ts";

export type { TableKey };

/** Identifies a table for a caller. */
export interface TableName {
  companyId: string;
  /** A UUID in lower case. */
  tableId: string;
}

/** Identifies one state of a table's head. */
export interface HeadVersion {
  /** The number grows with each change of the head, within one history. */
  schemaRevision: number;
  /** The history of the database, see `history`. */
  history: string;
}

/** The parts of a table's description that concern its rows. */
export interface TableHead extends TableName, TableKey, HeadVersion {
  name: string;
  columns: readonly Column[];
  /** Whether changes of rows are published as events. */
  rowEvents: boolean;
}

/**
 * Names the history that a statement sees (`tables.history()`). The database computes it once a statement. Data of
 * one history says nothing about another one. The query fails on a standby, whose rows may be old.
 */
export const history: SqlFragment = sql.fragment`(select tables.history())`;

/** Whether two heads of one table are the same. */
export function isSameHead(one: HeadVersion, other: HeadVersion): boolean {
  return one.schemaRevision === other.schemaRevision && one.history === other.history;
}

const columnSchema = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(COLUMN_TYPES),
  required: z.boolean().exactOptional(),
  options: z.array(z.string()).exactOptional(),
});

/** The columns of a table, read from their JSON text. */
export const columnsText = z.string().transform(parseColumnsText);

const headRow = z.object({
  companyId: z.string(),
  tableId: z.string(),
  tableKey: z.number(),
  name: z.string(),
  columns: columnsText,
  rowEvents: z.boolean(),
  schemaRevision: z.number(),
  history: z.string(),
});

const stateRow = z.object({
  revision: z.number(),
  schemaRevision: z.number(),
  history: z.string(),
  rowCount: z.number(),
  maxRows: z.number(),
  nextPosition: z.number(),
  /** The bytes in the JSON of all rows. Triggers keep the sum. */
  rowBytes: z.number(),
  /** The same bytes of the company's other tables, at the time of the lock's request. */
  otherBytes: z.number(),
});

/** The parts of a table that every write of its rows changes. */
export type TableState = z.infer<typeof stateRow>;

/** The head of a table; null when the company has no such table. */
export async function findTableHead(
  database: Queryable,
  { companyId, tableId }: TableName,
): Promise<TableHead | null> {
  return database.maybeOne(sql.prepared("tables_head", headRow)`
    select
      "table".company_id as "companyId",
      "table".id as "tableId",
      "table".key as "tableKey",
      "table".name,
      coalesce("table".schema -> 'columns', '[]')::text as "columns",
      "table".row_events as "rowEvents",
      state.schema_revision as "schemaRevision",
      ${history} as "history"
    from tables.tables as "table"
    join tables.table_states as state on state.table_key = "table".key
    where "table".id = ${tableId} and "table".company_id = ${companyId}
  `);
}

/**
 * Locks the state of a table: every other write of its rows waits until the transaction ends. Null when the table
 * is gone.
 */
export async function lockState(
  transaction: Transaction,
  key: TableKey,
): Promise<TableState | null> {
  return transaction.maybeOne(sql.prepared("table_states_lock", stateRow)`
    select
      state.revision as "revision",
      state.schema_revision as "schemaRevision",
      ${history} as "history",
      state.row_count as "rowCount",
      state.max_rows as "maxRows",
      state.next_position as "nextPosition",
      state.row_bytes as "rowBytes",
      ${bytesOfOtherTables(key)} as "otherBytes"
    from tables.table_states as state
    where state.table_key = ${key.tableKey} and state.company_id = ${key.companyId}
    for update
  `);
}

/**
 * Stores the new state after a write of rows. The transaction must hold the lock.
 * @returns the bytes of the rows now
 */
export async function saveState(
  transaction: Transaction,
  { companyId, tableKey }: TableKey,
  { revision, rowCount, nextPosition }: TableState,
): Promise<number> {
  return transaction.oneFirst(sql.prepared("table_states_save", z.object({ rowBytes: z.number() }))`
    update tables.table_states as state
    set revision = ${revision}, row_count = ${rowCount}, next_position = ${nextPosition}
    where state.table_key = ${tableKey} and state.company_id = ${companyId}
    returning state.row_bytes as "rowBytes"
  `);
}

/**
 * The one error for tables that are missing, of another company or named by a malformed id (D1).
 */
export function tableNotFound(): AppError {
  return new AppError("NOT_FOUND", "Table not found");
}

function parseColumnsText(text: string): Column[] {
  return z.array(columnSchema).parse(JSON.parse(text));
}
