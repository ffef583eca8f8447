import { sql } from "@workflow/db";
import type { Queryable, SqlFragment, Transaction } from "@workflow/db";
import { z } from "zod";
import { bytesOfOtherTables } from "./row-bytes.ts";
import type { RowBytesMax } from "./row-bytes.ts";
import { history } from "./states.ts";
import type { TableHead } from "./states.ts";
import type { TableKey } from "./table-key.ts";

/** A row to be added. */
export interface NewRow {
  id: string;
  /** The JSON text of an object. */
  data: string;
}

const insertedRow = z.object({
  schemaRevision: z.number(),
  history: z.string(),
  revision: z.number(),
  maxRows: z.number(),
  /** The number of rows before the insertion. `rowBytes` is from before as well. */
  rowCount: z.number(),
  rowBytes: z.number(),
  /** The bytes of the rows in the company's other tables. */
  otherBytes: z.number(),
  /** The number of rows that were added. They are the first ones. */
  taken: z.number(),
  /** The position of the first added row. The others follow without a gap. */
  firstPosition: z.number(),
  createdAt: z.date(),
});

/** The outcome of adding rows together. */
export type InsertOutcome = z.infer<typeof insertedRow>;

/**
 * Adds the first of the rows, as many as the table has room for, by one statement, which is a transaction of its
 * own. No row is added when the table's head has changed meanwhile (see `isSameHead`). Null when the table is gone.
 * The row of the state is locked first, so the numbers are current even after a wait. 100 rows take about twice as
 * long as one.
 */
export async function insertRowsAtOnce(
  database: Queryable,
  head: TableHead,
  rows: readonly NewRow[],
  bytesMax: RowBytesMax,
): Promise<InsertOutcome | null> {
  const ids = rows.map(({ id }) => id);
  const datas = rows.map(({ data }) => data);
  let bytes = 0;
  const ends = datas.map((data) => (bytes += Buffer.byteLength(data)));
  return database.maybeOne(sql.prepared("rows_insert_at_once", insertedRow)`
    with ${lockedStateCte(head)},
    ${roomCte(head, ends, bytesMax)},
    changed as (
      update tables.table_states as target
      set
        revision = room.revision,
        row_count = room.row_count + room.taken,
        next_position = room.next_position + room.taken
      from room
      where target.table_key = room.table_key and room.taken > 0
    ),
    added as (
      insert into tables.rows (table_key, position, id, data, revision)
      select
        room.table_key,
        room.next_position + item.place - 1,
        item.id,
        item.data,
        room.revision
      from room
      cross join unnest(${sql.array(ids, "uuid")}, ${sql.array(datas, "json")})
        with ordinality as item (id, data, place)
      where item.place <= room.taken
    )
    select
      room.schema_revision as "schemaRevision",
      room.history,
      room.revision,
      room.max_rows as "maxRows",
      room.row_count as "rowCount",
      room.row_bytes as "rowBytes",
      room.other_bytes as "otherBytes",
      room.taken,
      room.next_position as "firstPosition",
      now()::timestamptz(3) as "createdAt"
    from room
  `);
}

/** `state`: the table's state, locked, with the revision of this write. */
function lockedStateCte(head: TableHead): SqlFragment {
  return sql.fragment`
    state as materialized (
      select
        locked.table_key,
        locked.schema_revision,
        ${history} as history,
        locked.revision + 1 as revision,
        locked.max_rows,
        locked.row_count,
        locked.row_bytes,
        ${bytesOfOtherTables(head)} as other_bytes,
        locked.next_position
      from tables.table_states as locked
      where locked.table_key = ${head.tableKey} and locked.company_id = ${head.companyId}
      for update
    )
  `;
}

/**
 * `room`: the state, and how many of the rows are taken. None is when the head has changed.
 *
 * @param ends the bytes of the rows up to each one, which is included
 */
function roomCte(head: TableHead, ends: readonly number[], bytesMax: RowBytesMax): SqlFragment {
  return sql.fragment`
    room as (
      select
        state.*,
        case
          when state.schema_revision = ${head.schemaRevision} and state.history = ${head.history}
            then greatest(
              least(
                (
                  select count(*)
                  from unnest(${sql.array(ends, "int8")}) as item ("end")
                  where state.row_bytes + item."end" <= least(
                    ${bytesMax.table}::bigint,
                    ${bytesMax.company}::bigint - state.other_bytes
                  )
                ),
                state.max_rows - state.row_count
              ),
              0
            )
          else 0
        end as taken
      from state
    )
  `;
}

/**
 * Adds rows from a position on. The transaction must hold the state's lock.
 * @returns the time of the insertion
 */
export async function insertRows(
  transaction: Transaction,
  { tableKey }: TableKey,
  rows: readonly NewRow[],
  { firstPosition, revision }: { firstPosition: number; revision: number },
): Promise<Date> {
  const ids = rows.map(({ id }) => id);
  const datas = rows.map(({ data }) => data);
  const { createdAt } = await transaction.one(
    sql.prepared("rows_insert", z.object({ createdAt: z.date() }))`
      with added as (
        insert into tables.rows (table_key, position, id, data, revision)
        select
          ${tableKey}::bigint,
          ${firstPosition}::bigint + item.place - 1,
          item.id,
          item.data,
          ${revision}::bigint
        from unnest(${sql.array(ids, "uuid")}, ${sql.array(datas, "json")})
          with ordinality as item (id, data, place)
      )
      select now()::timestamptz(3) as "createdAt"
    `,
  );
  return createdAt;
}
