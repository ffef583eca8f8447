import { MeasureFunction, SortOrder } from "@workflow/proto/tables/v1/rows";
import type { AggregateRowsRequest } from "@workflow/proto/tables/v1/rows";
import type { WidgetRowsQuery } from "@workflow/proto/workflows/v1/dashboards";
import type { TableConfig } from "./widget-config.ts";

const FUNCTIONS = {
  count: MeasureFunction.COUNT,
  sum: MeasureFunction.SUM,
  avg: MeasureFunction.AVG,
  min: MeasureFunction.MIN,
  max: MeasureFunction.MAX,
} as const;

/** Whether a widget shows rows, not figures about them. */
export function showsRows(type: string, { groupBy, measures }: TableConfig): boolean {
  return type === "table" && groupBy === undefined && measures === undefined;
}

/** The rows that a widget shows. */
export function rowsQuestion(config: TableConfig): WidgetRowsQuery {
  const { tableId, sort = "", order, limit, columns = [] } = config;
  return {
    rows: {
      tableId,
      limit,
      offset: 0,
      filterJson: filterOf(config),
      sort,
      order: order === "desc" ? SortOrder.DESC : SortOrder.ASC,
      legacyFilter: false,
    },
    columnIds: columns,
  };
}

/** The figures that a widget shows; by default the number of rows. */
export function figuresQuestion(config: TableConfig): AggregateRowsRequest {
  const { tableId, groupBy = "", measures = [{ fn: "count" as const }] } = config;
  return {
    tableId,
    filterJson: filterOf(config),
    groupBy,
    measures: measures.map(({ fn, column = "" }) => ({
      function: FUNCTIONS[fn],
      columnId: column,
    })),
  };
}

function filterOf({ filter }: TableConfig): string {
  return filter === undefined ? "" : JSON.stringify(filter);
}
