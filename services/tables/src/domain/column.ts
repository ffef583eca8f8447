/** The types of columns (see the proto's ColumnType). */
export const COLUMN_TYPES = [
  "text",
  "number",
  "boolean",
  "date",
  "select",
  "url",
  "email",
  "json",
] as const;

/** What is said of a field that names no column. */
export const NO_COLUMN_ID = "must be the id of a column that the table declares";

export type ColumnType = (typeof COLUMN_TYPES)[number];

/** A column that a table declares. Rows may hold other values and other keys. */
export interface Column {
  /** The key of the column's values in a row's data. */
  id: string;
  name: string;
  type: ColumnType;
  required?: boolean;
  /** The options of a select column, in its sort order. */
  options?: readonly string[];
}
