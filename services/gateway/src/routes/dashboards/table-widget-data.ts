import { AppError, isAppError } from "@workflow/errors";
import { MeasureFunction } from "@workflow/proto/tables/v1/rows";
import type { AggregateRowsRequest } from "@workflow/proto/tables/v1/rows";
import type { Column, Table } from "@workflow/proto/tables/v1/tables";
import type { WidgetRowsQuery } from "@workflow/proto/workflows/v1/dashboards";
import { rawOrNull } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";
import type { RouteContext } from "../../route-context.ts";
import { rowJson } from "../tables/row-json.ts";
import { COLUMN_TYPES } from "../tables/table-fields.ts";

type TableContext = Pick<RouteContext, "tables" | "rows" | "call">;

const FUNCTION_NAMES = new Map<MeasureFunction, string>([
  [MeasureFunction.COUNT, "count"],
  [MeasureFunction.SUM, "sum"],
  [MeasureFunction.AVG, "avg"],
  [MeasureFunction.MIN, "min"],
  [MeasureFunction.MAX, "max"],
]);

const TYPE_NAMES = new Map<number, string>(
  Object.entries(COLUMN_TYPES).map(([name, type]) => [type, name]),
);

/** Figures about the rows of a table, in all or by group, in the order of the measures. */
export async function readFigures(
  { tables, rows, call }: TableContext,
  query: AggregateRowsRequest,
): Promise<{ readonly [name: string]: Writable }> {
  const { tableId, groupBy, measures } = query;
  const [table, answer] = await ofTable(tableId, [
    tables.getTable({ tableId }, call),
    rows.aggregateRows(query, call),
  ]);
  const columnIds = [groupBy, ...measures.map(({ columnId }) => columnId)];
  return {
    table: { id: table.id, name: table.name },
    columns: columnsJson(table, new Set(columnIds)),
    groupBy: groupBy === "" ? null : groupBy,
    measures: measures.map(({ function: fn, columnId }) => ({
      fn: FUNCTION_NAMES.get(fn) ?? "unknown",
      column: columnId === "" ? null : columnId,
    })),
    groups: answer.groups.map(({ keyJson, valuesJson }) => ({
      key: rawOrNull(keyJson),
      values: valuesJson.map(rawOrNull),
    })),
  };
}

/** Rows of a table, with the columns that the widget shows. */
export async function readRows(
  { tables, rows, call }: TableContext,
  { rows: query, columnIds }: WidgetRowsQuery,
): Promise<{ readonly [name: string]: Writable }> {
  if (query === undefined) throw new Error("A widget asks for no rows.");
  const { tableId } = query;
  const [table, page] = await ofTable(tableId, [
    tables.getTable({ tableId }, call),
    rows.queryRows(query, call),
  ]);
  const shown = columnIds.length === 0 ? null : new Set(columnIds);
  return {
    table: { id: table.id, name: table.name },
    columns: columnsJson(table, shown),
    rows: page.rows.map((row) =>
      rowJson(shown === null ? row : { ...row, dataJson: pickMembers(row.dataJson, shown) }),
    ),
    total: page.total,
    hasMore: page.hasMore,
  };
}

/** An existing dashboard can show a table that is gone; the error names what is missing. */
async function ofTable<Table, Answer>(
  tableId: string,
  answers: readonly [Promise<Table>, Promise<Answer>],
): Promise<[Table, Answer]> {
  try {
    return await Promise.all(answers);
  } catch (error) {
    if (!isAppError(error) || error.reason !== "NOT_FOUND") throw error;
    const message = "The table that the widget shows was not found.";
    throw new AppError("NOT_FOUND", message, { details: { tableId }, cause: error });
  }
}

/**
 * In the order of the config; without one in the table's order. A column that is gone is left out.
 */
function columnsJson(table: Table, shown: ReadonlySet<string> | null): Writable {
  if (shown === null) return table.columns.map(columnJson);
  const declared = new Map(table.columns.map((column) => [column.id, column]));
  return [...shown].flatMap((id) => {
    const column = declared.get(id);
    return column === undefined ? [] : [columnJson(column)];
  });
}

function columnJson({ id, name, type }: Column) {
  return { id, name, type: TYPE_NAMES.get(type) ?? "unknown" };
}

/** The selected members of a JSON object. */
function pickMembers(json: string, names: ReadonlySet<string>): string {
  const value: unknown = JSON.parse(json);
  // Entries, not assignments: a member may be called __proto__.
  const members = Object.entries(Object(value)).filter(([name]) => names.has(name));
  return JSON.stringify(Object.fromEntries(members));
}
