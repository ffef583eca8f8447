import { AppError } from "@workflow/errors";
import type { TableState } from "../store/states.ts";

/** What a table may hold, and what it holds. */
export interface TableRoom extends Pick<TableState, "maxRows" | "rowCount" | "rowBytes"> {
  /** What the JSON of its rows may have together, in bytes of UTF-8. */
  bytesMax: number;
}

/** The first of some rows, as many as a table has room for. */
export function takeFitting<Row extends { data: string }>(
  rows: readonly Row[],
  { maxRows, rowCount, rowBytes, bytesMax }: TableRoom,
): readonly Row[] {
  const taken: Row[] = [];
  let bytes = rowBytes;
  for (const row of rows) {
    bytes += Buffer.byteLength(row.data);
    if (bytes > bytesMax || rowCount + taken.length >= maxRows) break;
    taken.push(row);
  }
  return taken;
}

/** The room that is left after these rows were added. */
export function roomAfter(room: TableRoom, rows: readonly { data: string }[]): TableRoom {
  const bytes = rows.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0);
  return { ...room, rowCount: room.rowCount + rows.length, rowBytes: room.rowBytes + bytes };
}

/** Why a table has no room for a row; null when it has. */
export function refusalOf(room: TableRoom, { data }: { data: string }): AppError | null {
  if (room.rowCount >= room.maxRows) return tooManyRows(room.maxRows);
  if (room.rowBytes + Buffer.byteLength(data) > room.bytesMax) return tooManyBytes(room.bytesMax);
  return null;
}

/** The answer when a table has no room for another row. */
export function tooManyRows(maxRows: number): AppError {
  return new AppError("BAD_REQUEST", `Table has reached its maximum row limit of ${maxRows}`);
}

/** The answer when a table's rows would have more bytes than they may have together. */
export function tooManyBytes(max: number): AppError {
  const message = `The table's rows would have more than ${max} bytes of JSON together`;
  return new AppError("BAD_REQUEST", message, { details: { limit: "tableBytes", max } });
}
