import type { Column, ColumnType } from "../../src/domain/column.ts";
import type { Condition, Filter, ValueList } from "../../src/domain/row-query.ts";
import { canonicalJson } from "../../src/domain/canonical-json.ts";
import { isBlank } from "../../src/domain/cell-text.ts";
import { createVector, listDistinct, selectRows } from "../../src/engine/index.ts";
import type { DistinctValues, RowSource, Vector } from "../../src/engine/index.ts";

/** A column whose id and name are the same. */
export function columnOf(type: ColumnType, options?: readonly string[], id = "c"): Column {
  return options === undefined ? { id, name: id, type } : { id, name: id, type, options };
}

/** Live rows of one column. */
export function rowsOf(vector: Vector, dead: ReadonlySet<number> = new Set()): RowSource {
  return {
    size: vector.length,
    liveCount: vector.length - dead.size,
    isLive: (index) => !dead.has(index),
    vector: () => vector,
  };
}

/** A vector of these values. */
export function vectorOf(column: Column, values: readonly unknown[]): Vector {
  const vector = createVector(column.type);
  vector.append(values);
  return vector;
}

/** The values that meet a condition, in the table's order. */
export function valuesWith(column: Column, values: readonly unknown[], condition: Condition) {
  return selected(column, values, [{ kind: "column", column, condition }]);
}

/** The values that a list of exact values lets pass, in the table's order. */
export function valuesIn(
  column: Column,
  values: readonly unknown[],
  listed: readonly unknown[],
  excluded = false,
) {
  return selected(column, values, [{ kind: "column", column, list: listOf(listed, excluded) }]);
}

/** A list of exact values; blanks among them stand for all blanks. */
export function listOf(values: readonly unknown[], excluded = false): ValueList {
  return {
    excluded,
    values: new Set(values.filter((value) => !isBlank(value)).map(canonicalJson)),
    blanks: values.some(isBlank),
  };
}

/** The values in the order of the column. */
export function sorted(column: Column, values: readonly unknown[], descending = false): unknown[] {
  const { indexes } = selectRows(rowsOf(vectorOf(column, values)), {
    filter: [],
    sort: { column, descending },
    limit: values.length,
    offset: 0,
  });
  return Array.from(indexes, (index) => values[index]);
}

/** The different values of a column. */
export function distinctOf(
  column: Column,
  values: readonly unknown[],
  { search = "", limit = 100 }: { search?: string; limit?: number } = {},
): DistinctValues {
  const source = rowsOf(vectorOf(column, values));
  return listDistinct(source, { column, filter: [], search, limit });
}

function selected(column: Column, values: readonly unknown[], filter: Filter): unknown[] {
  const { indexes, total } = selectRows(rowsOf(vectorOf(column, values)), {
    filter,
    sort: null,
    limit: values.length,
    offset: 0,
  });
  if (total !== indexes.length) throw new Error(`total ${total}, rows ${indexes.length}`);
  return Array.from(indexes, (index) => values[index]);
}
