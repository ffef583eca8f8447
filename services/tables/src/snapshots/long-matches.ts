import type { Queryable } from "@workflow/db";
import type { ColumnClause, Filter, SubstringClause } from "../domain/row-query.ts";
import { longIndexes, matchesValue, needsWholeValue } from "../engine/index.ts";
import type { TableSource } from "./question.ts";
import { readWholeValues } from "./read-whole-values.ts";
import type { Snapshot } from "./snapshot.ts";

type ValueClause = ColumnClause | SubstringClause;

/** The clauses of a filter that the beginning of a long value does not decide. */
export function clausesOnWholeValues(filter: Filter): ValueClause[] {
  return filter.flatMap((clause) => {
    if (clause.kind === "any") return clause.filters.flatMap(clausesOnWholeValues);
    return needsWholeValue(clause) ? [clause] : [];
  });
}

/**
 * Which of a table's long values, that are not in memory as a whole, match the clauses of one query.
 * What was found out about a row holds until the row changes.
 */
export class LongMatches {
  readonly #clauses: readonly ValueClause[];
  /** By clause, then by position. */
  readonly #known: ReadonlyMap<ValueClause, Map<number, boolean>>;

  constructor(clauses: readonly ValueClause[]) {
    this.#clauses = clauses;
    this.#known = new Map(clauses.map((clause) => [clause, new Map()]));
  }

  /** The snapshot as it is now with the matches; null when not all long values in it were read. */
  sourceOf(snapshot: Snapshot): TableSource | null {
    if (this.#clauses.some((clause) => this.#missing(clause, snapshot).length > 0)) return null;
    return {
      revision: snapshot.revision,
      size: snapshot.size,
      liveCount: snapshot.liveCount,
      isLive: (index) => snapshot.isLive(index),
      positionAt: (index) => snapshot.positionAt(index),
      vector: (key, type) => snapshot.vector(key, type),
      longMatches: (clause) => this.#matches(clause, snapshot),
    };
  }

  /**
   * Reads what `sourceOf` misses. False when the snapshot has to be brought up to date before that
   * can help, since rows are newer than it.
   */
  async read(database: Queryable, tableKey: number, snapshot: Snapshot): Promise<boolean> {
    const changed = new Set<number>();
    const stopWatching = snapshot.watch(changed);
    let newest = 0;
    let isComplete = true;
    try {
      for (const clause of this.#clauses) {
        const missing = this.#missing(clause, snapshot);
        let found = 0;
        for await (const batch of readWholeValues(database, tableKey, keyOf(clause), missing)) {
          found += batch.length;
          for (const { position, revision, value } of batch) {
            newest = Math.max(newest, revision);
            this.#known.get(clause)?.set(position, matchesValue(clause, value));
          }
        }
        if (found < missing.length) isComplete = false;
      }
    } finally {
      stopWatching();
      for (const known of this.#known.values()) {
        for (const position of changed) known.delete(position);
      }
    }
    return isComplete && newest <= snapshot.revision;
  }

  #missing(clause: ValueClause, snapshot: Snapshot): number[] {
    const known = this.#known.get(clause);
    return longRows(clause, snapshot)
      .map((index) => snapshot.positionAt(index))
      .filter((position) => known?.has(position) !== true);
  }

  #matches(clause: ValueClause, snapshot: Snapshot): ReadonlySet<number> {
    const known = this.#known.get(clause);
    return new Set(
      longRows(clause, snapshot).filter((index) => known?.get(snapshot.positionAt(index)) === true),
    );
  }
}

function longRows(clause: ValueClause, snapshot: Snapshot): number[] {
  const type = clause.kind === "column" ? clause.column.type : "any";
  const vector = snapshot.vector(keyOf(clause), type);
  return longIndexes(vector).filter((index) => snapshot.isLive(index));
}

function keyOf(clause: ValueClause): string {
  return clause.kind === "column" ? clause.column.id : clause.key;
}
