import type { Transaction } from "@workflow/db";
import { insertEvents } from "@workflow/events";
import type { NewEvent } from "@workflow/events";
import { isJsonObject } from "@workflow/json";
import { parseRowData } from "../domain/row-data.ts";
import { deleteRows, findRowsToChange, updateRows } from "../store/rows-change.ts";
import type { RowUpdate } from "../store/rows-change.ts";
import { insertRows } from "../store/rows-insert.ts";
import type { NewRow } from "../store/rows-insert.ts";
import { rowsNotFound } from "../store/rows-record.ts";
import type { RowRecord } from "../store/rows-record.ts";
import { saveState } from "../store/states.ts";
import type { LockedTable } from "./lock-table.ts";
import { tooManyBytes, tooManyRows } from "./table-room.ts";
import { rowCreated, rowDeleted, rowUpdated } from "./row-events.ts";
import type { WriteCause } from "./row-events.ts";

/** Changes of a table's rows, in this order. No row is named twice. */
export interface RowChanges {
  inserts?: readonly (NewRow & { cause: WriteCause })[];
  updates?: readonly RowUpdate[];
  /** Whether updates keep the members that they do not name. */
  merge?: boolean;
  deletes?: readonly string[];
}

/** The rows as they are now, in the order of the changes. */
export interface WrittenRows {
  inserted: readonly RowRecord[];
  updated: readonly RowRecord[];
}

const SCHEMA = "tables";

/**
 * Writes rows of a locked table: rows, state and events, all or nothing. When `head.rowEvents` is set, callers wake
 * the outbox after the commit.
 * @throws AppError BAD_REQUEST when the table has no room for the new rows, or merged data is too large; NOT_FOUND
 * when rows are missing, with `{rowIds}` of the first ones
 */
export async function writeRows(
  transaction: Transaction,
  { head, state, bytesMax }: LockedTable,
  changes: RowChanges,
  cause: WriteCause,
): Promise<WrittenRows> {
  const { inserts = [], updates = [], deletes = [], merge = false } = changes;
  if (state.rowCount + inserts.length > state.maxRows) throw tooManyRows(state.maxRows);
  const revision = state.revision + 1;
  const before = await previousRows(transaction, head, changes);
  const inserted = await insertAll(transaction, head, inserts, {
    firstPosition: state.nextPosition,
    revision,
  });
  const replacements = merge ? updates.map((update) => merged(update, before)) : updates;
  const updated = await updateAll(transaction, head, replacements, revision);
  await deleteAll(transaction, head, deletes, revision);
  const rowBytes = await saveState(transaction, head, {
    ...state,
    revision,
    rowCount: state.rowCount + inserts.length - deletes.length,
    nextPosition: state.nextPosition + inserts.length,
  });
  // Rows from before the limit may exceed it; such rows may shrink.
  const refusal = rowBytes > state.rowBytes ? tooManyBytes({ ...state, rowBytes }, bytesMax) : null;
  if (refusal !== null) throw refusal;
  if (head.rowEvents) {
    const events: NewEvent[] = [
      ...inserted.map((row, place) => rowCreated(head, row, inserts[place]?.cause ?? cause)),
      ...updated.map((row) => rowUpdated(head, row, getRow(before, row.id), cause)),
      ...deletes.map((id) => rowDeleted(head, getRow(before, id), cause)),
    ];
    await insertEvents(transaction, SCHEMA, events);
  }
  return { inserted, updated };
}

type RowsById = ReadonlyMap<string, RowRecord>;

/** The rows before the changes, as far as the changes or events need them. */
async function previousRows(
  transaction: Transaction,
  head: LockedTable["head"],
  { updates = [], deletes = [], merge = false }: RowChanges,
): Promise<RowsById> {
  const updatedIds = merge || head.rowEvents ? updates.map(({ id }) => id) : [];
  const ids = [...updatedIds, ...(head.rowEvents ? deletes : [])];
  if (ids.length === 0) return new Map();
  const rows = await findRowsToChange(transaction, head, ids);
  const byId = new Map(rows.map((row) => [row.id, row]));
  assertKnown(ids, byId);
  return byId;
}

async function insertAll(
  transaction: Transaction,
  head: LockedTable["head"],
  rows: readonly NewRow[],
  place: { firstPosition: number; revision: number },
): Promise<RowRecord[]> {
  if (rows.length === 0) return [];
  const createdAt = await insertRows(transaction, head, rows, place);
  return toRecords(rows, { ...place, createdAt });
}

/** New rows as they were stored. */
export function toRecords(
  rows: readonly NewRow[],
  place: { firstPosition: number; revision: number; createdAt: Date },
): RowRecord[] {
  const { firstPosition, revision, createdAt } = place;
  return rows.map(({ id, data }, index) => ({
    id,
    data,
    position: firstPosition + index,
    revision,
    createdAt,
    updatedAt: createdAt,
  }));
}

async function updateAll(
  transaction: Transaction,
  head: LockedTable["head"],
  updates: readonly RowUpdate[],
  revision: number,
): Promise<RowRecord[]> {
  if (updates.length === 0) return [];
  const rows = await updateRows(transaction, head, updates, revision);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const ids = updates.map(({ id }) => id);
  assertKnown(ids, byId);
  return ids.map((id) => getRow(byId, id));
}

async function deleteAll(
  transaction: Transaction,
  head: LockedTable["head"],
  ids: readonly string[],
  revision: number,
): Promise<void> {
  if (ids.length === 0) return;
  const deleted = await deleteRows(transaction, head, ids, revision);
  assertKnown(ids, new Set(deleted));
}

function merged({ id, data }: RowUpdate, before: RowsById): RowUpdate {
  const old = parseObject(getRow(before, id).data);
  return { id, data: parseRowData(JSON.stringify({ ...old, ...parseObject(data) })) };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new TypeError("a row's data is an object");
  return value;
}

function assertKnown(ids: readonly string[], known: { has(id: string): boolean }): void {
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw rowsNotFound(unknown);
}

function getRow(rows: RowsById, id: string): RowRecord {
  const row = rows.get(id);
  if (row === undefined) throw new Error("a row that was there is gone in spite of the lock");
  return row;
}
