import { sql } from "@workflow/db";
import type { Queryable, Reading } from "@workflow/db";
import { z } from "zod";
import { rowColumns, rowRecord } from "./rows-record.ts";
import type { RowRecord } from "./rows-record.ts";
import { history, tableNotFound } from "./states.ts";
import type { HeadVersion, TableKey, TableName } from "./states.ts";

/** The state of a table at the moment at which its rows were read. */
export interface SeenTable extends HeadVersion {
  revision: number;
  rowCount: number;
  nextPosition: number;
}

/** Rows, and the state of their table at the same moment. */
export interface SeenRows {
  table: SeenTable;
  rows: RowRecord[];
}

const seenTable = {
  tableRevision: z.number(),
  schemaRevision: z.number(),
  history: z.string(),
  rowCount: z.number(),
  nextPosition: z.number(),
};
/** A table without any of the wanted rows is one row of nulls. */
const seenRow = z.union([rowRecord.extend(seenTable), z.object({ ...seenTable, id: z.null() })]);

const seenColumns = sql.fragment`
  state.revision as "tableRevision",
  state.schema_revision as "schemaRevision",
  ${history} as "history",
  state.row_count as "rowCount",
  state.next_position as "nextPosition"
`;

/** Reads the existing rows at these positions, in no order. Null when the table is gone. */
export async function findRowsAt(
  database: Reading,
  { companyId, tableKey }: TableKey,
  positions: readonly number[],
): Promise<SeenRows | null> {
  const seen = await database.any(sql.prepared("rows_at", seenRow)`
    select ${seenColumns}, ${rowColumns}
    from tables.table_states as state
    left join tables.rows as "row"
      on "row".table_key = ${tableKey} and "row".position = any(${sql.array(positions, "int8")})
    where state.table_key = ${tableKey} and state.company_id = ${companyId}
  `);
  return toSeenRows(seen);
}

/** Reads the first rows from a position on, in order. Null when the company has no such table. */
export async function findRowsFrom(
  database: Reading,
  { companyId, tableId }: TableName,
  position: number,
  limit: number,
): Promise<SeenRows | null> {
  const seen = await database.any(sql.prepared("rows_from", seenRow)`
    select ${seenColumns}, ${rowColumns}
    from tables.tables as "table"
    join tables.table_states as state on state.table_key = "table".key
    left join lateral (
      select r.id, r.position, r.data, r.revision, r.created_at, r.updated_at
      from tables.rows as r
      where r.table_key = "table".key and r.position >= ${position}
      order by r.position
      limit ${limit}
    ) as "row" on true
    where "table".id = ${tableId} and "table".company_id = ${companyId}
    order by "row".position
  `);
  return toSeenRows(seen);
}

/**
 * A row; null when the table has none of this id.
 *
 * @throws AppError NOT_FOUND when there is no such table
 */
export async function findRow(
  database: Reading,
  { companyId, tableId }: TableName,
  rowId: string,
): Promise<RowRecord | null> {
  const seen = await database.any(sql.prepared("rows_find", seenRow)`
    select ${seenColumns}, ${rowColumns}
    from tables.tables as "table"
    join tables.table_states as state on state.table_key = "table".key
    left join tables.rows as "row" on "row".table_key = "table".key and "row".id = ${rowId}
    where "table".id = ${tableId} and "table".company_id = ${companyId}
  `);
  const found = toSeenRows(seen);
  if (found === null) throw tableNotFound();
  return found.rows[0] ?? null;
}

/**
 * The ids among these that rows of the table have.
 * @throws AppError NOT_FOUND when there is no such table
 */
export async function findKnownIds(
  database: Queryable,
  { companyId, tableId }: TableName,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await database.anyFirst(sql.prepared(
    "rows_known",
    z.object({ id: z.string().nullable() }),
  )`
    select "row".id
    from tables.tables as "table"
    left join tables.rows as "row"
      on "row".table_key = "table".key and "row".id = any(${sql.array(ids, "uuid")})
    where "table".id = ${tableId} and "table".company_id = ${companyId}
  `);
  if (found.length === 0) throw tableNotFound();
  return new Set(found.filter((id) => id !== null));
}

function toSeenRows(seen: readonly z.infer<typeof seenRow>[]): SeenRows | null {
  const [first] = seen;
  if (first === undefined) return null;
  const { tableRevision: revision, schemaRevision, rowCount, nextPosition } = first;
  return {
    table: { revision, schemaRevision, history: first.history, rowCount, nextPosition },
    rows: seen.filter((row) => row.id !== null),
  };
}
