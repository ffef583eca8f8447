import type { Column } from "../domain/column.ts";
import type { ColumnClause, Filter, Sort, SubstringClause } from "../domain/row-query.ts";
import type { Vector, VectorType } from "./vector.ts";

/** The rows of a table for the engine: index 0 up to size, in the table's own order. */
export interface RowSource {
  readonly size: number;
  /** The number of live rows. The others were deleted and are not compacted away yet. */
  readonly liveCount: number;
  isLive(index: number): boolean;
  /** The values of a key. The vector is as long as `size`. */
  vector(key: string, type: VectorType): Vector;
  /**
   * The rows with a cut value that match the clause as a whole. `needsWholeValue` tells when the engine asks.
   * Without an answer the kept beginning decides.
   */
  longMatches?(clause: ColumnClause | SubstringClause): ReadonlySet<number> | undefined;
  /**
   * The rows with a cut value (`cutRows`) whose label contains the search. The engine asks for distinct values.
   * Without the function, any of these rows might match.
   */
  longLabels?(column: Column, search: string): ReadonlySet<number>;
}

/** The name of a vector. */
export interface VectorName {
  readonly key: string;
  readonly type: VectorType;
}

/** The vectors that a filter and an order need, each once. */
export function vectorsOf(filter: Filter, sort: Sort | null): VectorName[] {
  const names = new Map<string, VectorName>();
  const add = (name: VectorName) => names.set(`${name.type} ${name.key}`, name);
  addNames(filter, add);
  if (sort !== null) add({ key: sort.column.id, type: sort.column.type });
  return [...names.values()];
}

function addNames(filter: Filter, add: (name: VectorName) => void): void {
  for (const clause of filter) {
    switch (clause.kind) {
      case "column":
        add({ key: clause.column.id, type: clause.column.type });
        break;
      case "substring":
        add({ key: clause.key, type: "any" });
        break;
      case "any":
        for (const alternative of clause.filters) addNames(alternative, add);
        break;
    }
  }
}
