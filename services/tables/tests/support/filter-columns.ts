import type { Column, ColumnType } from "../../src/domain/column.ts";
import { COLUMN_TYPES } from "../../src/domain/column.ts";
import { parseFilter } from "../../src/domain/parse-filter.ts";
import type { FilterMode } from "../../src/domain/parse-filter.ts";
import type { Filter } from "../../src/domain/row-query.ts";
import { problemsOf } from "./problems-of.ts";

/** A column of each type, with the type as its id. */
export const COLUMNS: readonly Column[] = COLUMN_TYPES.map((type) => ({
  id: type,
  name: type,
  type,
  ...(type === "select" ? { options: ["open", "closed"] } : {}),
}));

/** The column of a type. */
export function columnOf(type: ColumnType): Column {
  const column = COLUMNS.find(({ id }) => id === type);
  if (column === undefined) throw new Error(`no column of type ${type}`);
  return column;
}

/** Reads a filter given as a value. */
export function parse(filter: unknown, mode: FilterMode = "structured"): Filter {
  return parseFilter(JSON.stringify(filter), COLUMNS, mode);
}

/** What is wrong with a filter, each problem as `path: message`. */
export function problemsWith(filter: unknown, mode: FilterMode = "structured"): string[] {
  return problemsOf(() => parse(filter, mode));
}
