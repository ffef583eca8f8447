import type { Column } from "../domain/column.ts";
import type { ColumnClause, Filter, Sort, SubstringClause } from "../domain/row-query.ts";
import type { Vector, VectorType } from "./vector.ts";

/** A table's rows as the engine sees them: index 0 up to size, in the table's own order. */
export interface RowSource {
  readonly size: number;
  /** How many of them are live; the others are deleted rows not yet compacted away. */
  readonly liveCount: number;
  isLive(index: number): boolean;
  /** The values of a key; as long as `size`. */
  vector(key: string, type: VectorType): Vector;
  /**
   * Which of the rows of which only the beginning is kept match the clause as a whole. Asked when
   * `needsWholeValue` says so; without it, or when it does not answer, the beginning decides.
   */
  longMatches?(clause: ColumnClause | SubstringClause): ReadonlySet<number> | undefined;
  /**
   * Which rows, of those of whose value only the beginning is kept (`cutRows`), have a label that contains
   * the search. Asked for distinct values; without it, any of them might.
   */
  longLabels?(column: Column, search: string): ReadonlySet<number>;
}

/** Names a vector. */
export interface VectorName {
  readonly key: string;
  readonly type: VectorType;
}

/** The vectors that a filter and an order look at, each once. */
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
