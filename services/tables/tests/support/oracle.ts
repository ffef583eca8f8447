import type { JsonObject } from "@workflow/json";
import type { Column } from "../../src/domain/column.ts";
import {
  columnOf,
  compareFitting,
  compareIn,
  fits,
  includes,
  isBlank,
  isLong,
  jsonOf,
  matchingRows,
  textOf,
  valueOf,
  without,
} from "./oracle-rules.ts";
import type { OracleRow, OracleTable } from "./oracle-rules.ts";

export type { OracleRow, OracleTable } from "./oracle-rules.ts";

/** A page of rows as it is asked for. */
export interface RowsQuery {
  readonly filter: JsonObject;
  readonly sort: string | null;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** The positions of a page of rows, and how many rows match. */
export function oracleRows(
  table: OracleTable,
  { filter, sort, descending, limit, offset }: RowsQuery,
): { total: number; positions: number[] } {
  const rows = matchingRows(table, filter);
  if (sort !== null) {
    const column = columnOf(table, sort);
    rows.sort((a, b) => compareIn(column, valueOf(a, sort), valueOf(b, sort), descending));
  }
  const page = rows.slice(offset, offset + limit);
  return { total: rows.length, positions: page.map(({ position }) => position) };
}

/** The different values of a column as they are asked for. */
export interface DistinctQuery {
  readonly columnId: string;
  readonly filter: JsonObject;
  readonly search: string;
  readonly limit: number;
}

/** One of the different values of a column. */
export interface DistinctEntry {
  valueJson: string;
  label: string;
  count: number;
}

/**
 * The different values of a column, of which those with a too long JSON text cannot be told.
 */
export function oracleDistinct(
  table: OracleTable,
  { columnId, filter, search, limit }: DistinctQuery,
): { values: DistinctEntry[]; truncated: boolean } {
  const column = columnOf(table, columnId);
  const rows = matchingRows(table, without(filter, columnId));
  const groups = groupRows(rows, column).map((group) => ({
    ...group,
    label: isBlank(group.value) ? "(Blanks)" : textOf(group.value),
  }));
  const found = groups.filter(({ label }) => includes(label, search));
  const tellable = found.filter(({ value }) => jsonOf(value).length <= EXACT_CHARS_MAX);
  return {
    values: tellable.slice(0, limit).map((group) => ({
      valueJson: jsonOf(group.value),
      label: group.label,
      count: group.rows.length,
    })),
    truncated: tellable.length > limit || tellable.length < found.length,
  };
}

/** What is to be computed of which rows. */
export interface AggregateQuery {
  readonly filter: JsonObject;
  readonly groupBy: string | null;
  readonly measures: readonly OracleMeasure[];
}

export interface OracleMeasure {
  readonly function: "count" | "sum" | "avg" | "min" | "max";
  readonly column: string | null;
}

/** Long values are no groups. */
export const REFUSED = "refused";

/** Figures by group. */
export function oracleAggregate(
  table: OracleTable,
  { filter, groupBy, measures }: AggregateQuery,
): { keyJson: string; valuesJson: string[] }[] | typeof REFUSED {
  const rows = matchingRows(table, filter);
  const groups =
    groupBy === null ? [{ value: null, rows }] : groupRows(rows, columnOf(table, groupBy));
  if (groups.some(({ value }) => isLong(value))) return REFUSED;
  return groups.map((group) => ({
    keyJson: jsonOf(group.value),
    valuesJson: measures.map((measure) => JSON.stringify(measureOf(table, group.rows, measure))),
  }));
}

/** What can be listed as an exact value has at most so many characters. */
const EXACT_CHARS_MAX = 2_000;

function measureOf(
  table: OracleTable,
  rows: readonly OracleRow[],
  measure: OracleMeasure,
): unknown {
  if (measure.column === null) return rows.length;
  const column = columnOf(table, measure.column);
  const values = rows.map((row) => valueOf(row, column.id));
  if (measure.function === "count") return values.filter((value) => !isBlank(value)).length;
  const fitting = values.filter((value) => fits(column, value));
  const sum = () => fitting.reduce((total: number, value) => total + Number(value), 0);
  if (measure.function === "sum") return sum();
  if (fitting.length === 0) return null;
  if (measure.function === "avg") return sum() / fitting.length;
  return fitting.reduce((best, value) => {
    const order = compareFitting(column, value, best);
    return (measure.function === "min" ? order < 0 : order > 0) ? value : best;
  });
}

/** Rows with the same value, in the column's order; blanks are one value, null. */
function groupRows(rows: readonly OracleRow[], column: Column) {
  const groups = new Map<string, { value: unknown; rows: OracleRow[] }>();
  for (const row of rows) {
    const raw = valueOf(row, column.id);
    const value = isBlank(raw) ? null : raw;
    const key = jsonOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { value, rows: [row] });
    else group.rows.push(row);
  }
  return [...groups.values()].toSorted((a, b) => compareIn(column, a.value, b.value, false));
}
