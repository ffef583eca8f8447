import { isJsonObject } from "@workflow/json";
import { stringify } from "csv-stringify/sync";
import { isBlank } from "../domain/cell-text.ts";
import type { Column } from "../domain/column.ts";
import type { ExportedRow } from "../store/export-rows.ts";

/** The text form of a table. */
export interface RowFormat {
  /** The text before the rows. */
  head(columns: readonly Column[]): string;
  /** Whole lines, one for each row. */
  rows(rows: readonly ExportedRow[], columns: readonly Column[]): string;
}

/**
 * CSV by RFC 4180: CRLF, and quotes where they are needed. Values stay as they are, even when a spreadsheet takes
 * them for a formula (`=1+1`, `+…`, `-…`, `@…`). A prefix against that would change data that programs read and
 * imports take back.
 */
export const CSV: RowFormat = {
  head: (columns) => csvLines([columns.map(({ name }) => name)], columns),
  rows: (rows, columns) =>
    csvLines(
      rows.map(({ data }) => csvFields(data, columns)),
      columns,
    ),
};

/** One JSON object a line, with the row's data as it is stored. */
export const JSONL: RowFormat = {
  head: () => "",
  rows: (rows) => rows.map(({ id, data }) => `{"id":"${id}","data":${data}}\n`).join(""),
};

function csvFields(dataJson: string, columns: readonly Column[]): string[] {
  const data: unknown = JSON.parse(dataJson);
  if (!isJsonObject(data)) return [];
  return columns.map(({ id }) => {
    // A column may be called `__proto__` or `toString`.
    const value = Object.hasOwn(data, id) ? data[id] : null;
    if (isBlank(value)) return "";
    // The text is the stored one: members keep their order.
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}

function csvLines(records: string[][], columns: readonly Column[]): string {
  // A table without columns has no text. A blank in the only column must not become an empty line, since readers
  // skip empty lines.
  if (columns.length === 0) return "";
  return stringify(records, { record_delimiter: "\r\n", quoted_empty: columns.length === 1 });
}
