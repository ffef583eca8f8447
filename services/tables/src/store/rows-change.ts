import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { bytesOfOtherTables } from "./row-bytes.ts";
import type { RowBytesMax } from "./row-bytes.ts";
import { rowColumns, rowRecord } from "./rows-record.ts";
import type { RowRecord } from "./rows-record.ts";
import { history } from "./states.ts";
import type { HeadVersion, TableHead } from "./states.ts";
import type { TableKey } from "./table-key.ts";

/** New data of a row. */
export interface RowUpdate {
  id: string;
  /** The JSON text of an object. */
  data: string;
}

const seenState = { schemaRevision: z.number(), history: z.string(), mayBeFull: z.boolean() };
const changedRow = z.union([rowRecord.extend(seenState), z.object({ ...seenState, id: z.null() })]);

/**
 * The outcome of changing one row. `row` is null when the table has no row of this id. The same holds when the
 * table's head has changed meanwhile, so that nothing was done (see `isSameHead`).
 */
export interface ChangeOutcome extends HeadVersion {
  row: RowRecord | null;
  /** Whether the change may have failed because the table has no room for the new data. */
  mayBeFull: boolean;
}

/**
 * Replaces the data of a row by one statement, which is a transaction of its own. Nothing changes when the rows
 * would grow beyond `bytesMax`. Null when the table is gone.
 */
export async function updateRowAtOnce(
  database: Queryable,
  head: TableHead,
  { id, data, bytesMax }: RowUpdate & { bytesMax: RowBytesMax },
): Promise<ChangeOutcome | null> {
  const bytes = Buffer.byteLength(data);
  const outcome = await database.maybeOne(sql.prepared("rows_update_at_once", changedRow)`
    with room as materialized (
      select least(
        ${bytesMax.table}::bigint,
        ${bytesMax.company}::bigint - ${bytesOfOtherTables(head)}
      ) as bytes_max
    ),
    state as materialized (
      select
        locked.table_key, locked.schema_revision, ${history} as history,
        locked.revision + 1 as revision, locked.row_bytes,
        locked.row_bytes + ${bytes}::bigint > (select room.bytes_max from room) as may_be_full
      from tables.table_states as locked
      where locked.table_key = ${head.tableKey} and locked.company_id = ${head.companyId}
      for update
    ),
    "row" as (
      update tables.rows as target
      set data = ${data}, revision = state.revision, updated_at = now()
      from state
      where target.table_key = state.table_key
        and target.id = ${id}
        and state.schema_revision = ${head.schemaRevision}
        and state.history = ${head.history}
        and (
          not state.may_be_full
          or octet_length(target.data::text)
            >= least(
              ${bytes}::bigint,
              state.row_bytes + ${bytes}::bigint - (select room.bytes_max from room)
            )
        )
      returning
        target.table_key, target.id, target.position, target.data, target.revision,
        target.created_at, target.updated_at
    ),
    changed as (
      update tables.table_states as target
      set revision = "row".revision
      from "row"
      where target.table_key = "row".table_key
    )
    select
      state.schema_revision as "schemaRevision", state.history,
      state.may_be_full as "mayBeFull", ${rowColumns}
    from state
    left join "row" on true
  `);
  return toChangeOutcome(outcome);
}

/**
 * Deletes a row by one statement, which is a transaction of its own. Null when the table is gone.
 */
export async function deleteRowAtOnce(
  database: Queryable,
  head: TableHead,
  id: string,
): Promise<ChangeOutcome | null> {
  const outcome = await database.maybeOne(sql.prepared("rows_delete_at_once", changedRow)`
    with state as materialized (
      select
        locked.table_key, locked.schema_revision, ${history} as history,
        locked.revision + 1 as revision
      from tables.table_states as locked
      where locked.table_key = ${head.tableKey} and locked.company_id = ${head.companyId}
      for update
    ),
    "row" as (
      delete from tables.rows as target
      using state
      where target.table_key = state.table_key
        and target.id = ${id}
        and state.schema_revision = ${head.schemaRevision}
        and state.history = ${head.history}
      returning
        target.table_key, target.id, target.position, target.data, target.revision,
        target.created_at, target.updated_at
    ),
    noted as (
      insert into tables.row_deletions (table_key, revision, position)
      select state.table_key, state.revision, "row".position
      from state
      cross join "row"
    ),
    changed as (
      update tables.table_states as target
      set revision = state.revision, row_count = target.row_count - 1
      from state
      cross join "row"
      where target.table_key = state.table_key
    )
    select
      state.schema_revision as "schemaRevision", state.history, false as "mayBeFull",
      ${rowColumns}
    from state
    left join "row" on true
  `);
  return toChangeOutcome(outcome);
}

/** The existing rows among these ids, in no order. The transaction must hold the state's lock. */
export async function findRowsToChange(
  transaction: Transaction,
  { tableKey }: TableKey,
  ids: readonly string[],
): Promise<readonly RowRecord[]> {
  return transaction.any(sql.prepared("rows_to_change", rowRecord)`
    select ${rowColumns}
    from tables.rows as "row"
    where "row".table_key = ${tableKey} and "row".id = any(${sql.array(ids, "uuid")})
  `);
}

/** Replaces the data of the existing rows, and returns them in no order. */
export async function updateRows(
  transaction: Transaction,
  { tableKey }: TableKey,
  updates: readonly RowUpdate[],
  revision: number,
): Promise<readonly RowRecord[]> {
  const ids = updates.map(({ id }) => id);
  const datas = updates.map(({ data }) => data);
  return transaction.any(sql.prepared("rows_update", rowRecord)`
    update tables.rows as "row"
    set data = item.data, revision = ${revision}, updated_at = now()
    from unnest(${sql.array(ids, "uuid")}, ${sql.array(datas, "json")}) as item (id, data)
    where "row".table_key = ${tableKey} and "row".id = item.id
    returning ${rowColumns}
  `);
}

/** Deletes the existing rows, records the deletions, and returns the ids in no order. */
export async function deleteRows(
  transaction: Transaction,
  { tableKey }: TableKey,
  ids: readonly string[],
  revision: number,
): Promise<readonly string[]> {
  return transaction.anyFirst(sql.prepared("rows_delete", z.object({ id: z.string() }))`
    with deleted as (
      delete from tables.rows as "row"
      where "row".table_key = ${tableKey} and "row".id = any(${sql.array(ids, "uuid")})
      returning "row".id, "row".position
    ),
    noted as (
      insert into tables.row_deletions (table_key, revision, position)
      select ${tableKey}::bigint, ${revision}::bigint, deleted.position
      from deleted
    )
    select deleted.id
    from deleted
  `);
}

function toChangeOutcome(outcome: z.infer<typeof changedRow> | null): ChangeOutcome | null {
  if (outcome === null) return null;
  const { schemaRevision, history: seen, mayBeFull } = outcome;
  const row = outcome.id === null ? null : outcome;
  return { schemaRevision, history: seen, mayBeFull, row };
}
