import { AppError } from "@workflow/errors";
import type { RowBytes, RowBytesMax } from "../store/row-bytes.ts";
import type { TableState } from "../store/states.ts";

/** The limits of a table, and the present use by the table and by its company's other tables. */
export interface TableRoom extends Pick<TableState, "maxRows" | "rowCount">, RowBytes {
  bytesMax: RowBytesMax;
}

/** The first of these rows, as many as the table has room for. */
export function takeFitting<Row extends { data: string }>(
  rows: readonly Row[],
  room: TableRoom,
): readonly Row[] {
  const { maxRows, rowCount, otherBytes, bytesMax } = room;
  const taken: Row[] = [];
  let { rowBytes } = room;
  for (const row of rows) {
    rowBytes += Buffer.byteLength(row.data);
    const isFull = tooManyBytes({ rowBytes, otherBytes }, bytesMax) !== null;
    if (isFull || rowCount + taken.length >= maxRows) break;
    taken.push(row);
  }
  return taken;
}

/** The room that is left after these rows are added. */
export function roomAfter(room: TableRoom, rows: readonly { data: string }[]): TableRoom {
  const bytes = rows.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0);
  return { ...room, rowCount: room.rowCount + rows.length, rowBytes: room.rowBytes + bytes };
}

/** The reason why a table has no room for a row; null when it has. */
export function refusalOf(room: TableRoom, { data }: { data: string }): AppError | null {
  if (room.rowCount >= room.maxRows) return tooManyRows(room.maxRows);
  const rowBytes = room.rowBytes + Buffer.byteLength(data);
  return tooManyBytes({ ...room, rowBytes }, room.bytesMax);
}

/** The error for a table without room for another row. */
export function tooManyRows(maxRows: number): AppError {
  return new AppError("BAD_REQUEST", `Table has reached its maximum row limit of ${maxRows}`);
}

/**
 * The error for rows whose bytes exceed the limit of a table, or of all tables of its company; null when they do
 * not.
 */
export function tooManyBytes(
  { rowBytes, otherBytes }: RowBytes,
  { table, company }: RowBytesMax,
): AppError | null {
  if (rowBytes > table) return beyond("The table's rows", { limit: "tableBytes", max: table });
  return rowBytes + otherBytes > company
    ? beyond("The rows of the company's tables", { limit: "companyTableBytes", max: company })
    : null;
}

function beyond(rows: string, details: { limit: string; max: number }): AppError {
  const message = `${rows} would have more than ${details.max} bytes of JSON together`;
  return new AppError("BAD_REQUEST", message, { details });
}
