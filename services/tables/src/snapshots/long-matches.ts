import type { Reading } from "@workflow/db";
import { isBlank, textOf } from "../domain/cell-text.ts";
import type { Column } from "../domain/column.ts";
import { fold } from "../domain/fold.ts";
import type { ColumnClause, Filter, SubstringClause } from "../domain/row-query.ts";
import { longIndexes, matchesValue, needsWholeValue } from "../engine/index.ts";
import type { Vector, VectorName } from "../engine/index.ts";
import { readWholeValues } from "./read-whole-values.ts";
import type { Snapshot } from "./snapshot.ts";
import type { TableSource } from "./table-source.ts";

type ValueClause = ColumnClause | SubstringClause;

/** A test of values whose kept beginning does not decide a clause. */
export interface WholeValueTest {
  readonly name: VectorName;
  /** The clause of the filter that asks; null for the search among a column's labels. */
  readonly clause: ValueClause | null;
  /** Returns the rows of the vector to which the test applies. */
  readonly rowsOf: (vector: Vector) => readonly number[];
  /** Tests a whole value, as `JSON.parse` returns it. */
  readonly matches: (value: unknown) => boolean;
}

/** The tests that the clauses of a filter need. */
export function testsOf(filter: Filter): WholeValueTest[] {
  return filter.flatMap((clause) => {
    if (clause.kind === "any") return clause.filters.flatMap(testsOf);
    if (!needsWholeValue(clause)) return [];
    const name: VectorName =
      clause.kind === "column"
        ? { key: clause.column.id, type: clause.column.type }
        : { key: clause.key, type: "any" };
    const matches = (value: unknown): boolean => matchesValue(clause, value);
    return [{ name, clause, rowsOf: longIndexes, matches }];
  });
}

/** The test that a search among the labels of a column needs. */
export function searchTest({ id, type }: Column, search: string): WholeValueTest {
  const needle = fold(search);
  return {
    name: { key: id, type },
    clause: null,
    rowsOf: (vector) => vector.cutRows(),
    matches: (value) => !isBlank(value) && fold(textOf(value)).includes(needle),
  };
}

/**
 * Finds the long values that pass the tests of one question; memory holds only their beginnings. A result for a row
 * holds until the snapshot learns that the row has changed. Callers must call `stop` in the end.
 */
export class LongMatches {
  readonly stop: () => void;
  readonly #snapshot: Snapshot;
  /** By test, then by position. */
  readonly #known: ReadonlyMap<WholeValueTest, Map<number, boolean>>;
  readonly #changed = new Set<number>();

  constructor(tests: readonly WholeValueTest[], snapshot: Snapshot) {
    this.#snapshot = snapshot;
    this.#known = new Map(tests.map((test) => [test, new Map()]));
    this.stop = snapshot.watch(this.#changed);
  }

  /**
   * Tests the values without a result. After a read at another revision, a second read in a transaction at the
   * snapshot's revision completes the results.
   */
  async read(database: Reading, tableKey: number): Promise<void> {
    this.#forgetChanged();
    for (const [test, known] of this.#known) {
      const missing = this.#longRows(test)
        .map((index) => this.#snapshot.positionAt(index))
        .filter((position) => !known.has(position));
      for await (const batch of readWholeValues(database, tableKey, test.name.key, missing)) {
        for (const { position, history, value } of batch) {
          if (history === this.#snapshot.history) known.set(position, test.matches(value));
        }
      }
    }
    this.#forgetChanged();
  }

  /** The snapshot with the matches, once `read` has run at its revision. */
  source(): TableSource {
    const snapshot = this.#snapshot;
    const matching = (clause: ValueClause | null): ReadonlySet<number> => {
      const found = new Set<number>();
      for (const [test, known] of this.#known) {
        if (test.clause !== clause) continue;
        for (const index of this.#longRows(test)) {
          if (known.get(snapshot.positionAt(index)) === true) found.add(index);
        }
      }
      return found;
    };
    return {
      revision: snapshot.revision,
      size: snapshot.size,
      liveCount: snapshot.liveCount,
      isLive: (index) => snapshot.isLive(index),
      positionAt: (index) => snapshot.positionAt(index),
      vector: (key, type) => snapshot.vector(key, type),
      longMatches: matching,
      longLabels: () => matching(null),
    };
  }

  #longRows({ name, rowsOf }: WholeValueTest): number[] {
    const { key, type } = name;
    // The column was dropped meanwhile, and nobody will ask for a source then.
    if (!this.#snapshot.has(name)) return [];
    const rows = rowsOf(this.#snapshot.vector(key, type));
    return rows.filter((index) => this.#snapshot.isLive(index));
  }

  #forgetChanged(): void {
    for (const known of this.#known.values()) {
      for (const position of this.#changed) known.delete(position);
    }
    this.#changed.clear();
  }
}
