import { SortOrder } from "@workflow/proto/tables/v1/rows";
import type { Column } from "../../src/domain/column.ts";
import { parseFilter } from "../../src/domain/parse-filter.ts";
import { parseSort } from "../../src/domain/parse-sort.ts";
import { withoutColumn } from "../../src/domain/without-column.ts";
import { aggregateRows, listDistinct, selectRows } from "../../src/engine/index.ts";
import type { MemoryTable } from "./memory-table.ts";
import { REFUSED, oracleAggregate, oracleDistinct, oracleRows } from "./oracle.ts";
import type { OracleTable } from "./oracle.ts";
import type { RandomQuery } from "./random-query.ts";

/** What the domain and the engine answer. */
export function askEngine(table: MemoryTable, query: RandomQuery): unknown {
  const { columns } = table;
  const text = JSON.stringify(query.filter);
  switch (query.kind) {
    case "rows": {
      const filter = parseFilter(text, columns, query.legacy ? "legacyRows" : "structured");
      const order = query.descending ? SortOrder.DESC : SortOrder.ASC;
      const sort = parseSort(query.sort ?? "", order, columns);
      const { limit, offset } = query;
      const { total, indexes } = selectRows(table, { filter, sort, limit, offset });
      return { total, positions: Array.from(indexes, (index) => table.positionAt(index)) };
    }
    case "distinct": {
      const { columnId, search, limit } = query;
      const filter = parseFilter(text, columns, query.legacy ? "legacyDistinct" : "structured");
      return listDistinct(table, {
        column: columnOf(columns, columnId),
        filter: withoutColumn(filter, columnId),
        search,
        limit,
      });
    }
    case "aggregate": {
      const { groupBy, measures } = query;
      const groups = aggregateRows(table, {
        filter: parseFilter(text, columns, "structured"),
        groupBy: groupBy === null ? null : columnOf(columns, groupBy),
        measures: measures.map((measure) => ({
          function: measure.function,
          column: measure.column === null ? null : columnOf(columns, measure.column),
        })),
      });
      if (groups.some(({ keyIsCut }) => keyIsCut)) return REFUSED;
      return groups.map(({ keyJson, valuesJson }) => ({ keyJson, valuesJson }));
    }
  }
}

/** What the contract says. */
export function askOracle(table: OracleTable, query: RandomQuery): unknown {
  switch (query.kind) {
    case "rows":
      return oracleRows(table, query);
    case "distinct":
      return oracleDistinct(table, query);
    case "aggregate":
      return oracleAggregate(table, query);
  }
}

function columnOf(columns: readonly Column[], id: string): Column {
  const column = columns.find((each) => each.id === id);
  if (column === undefined) throw new Error(`no column ${id}`);
  return column;
}
