import type { JsonObject } from "@workflow/json";
import { textOf } from "../../src/domain/cell-text.ts";
import type { Column } from "../../src/domain/column.ts";
import type { ColumnClause, SubstringClause } from "../../src/domain/row-query.ts";
import { fold } from "../../src/domain/fold.ts";
import { createVector, longIndexes, matchesValue } from "../../src/engine/index.ts";
import type { RowSource, Vector, VectorType } from "../../src/engine/index.ts";
import type { OracleRow, OracleTable } from "./oracle.ts";

/** A table in memory that the engine can query, and whose vectors follow its changes. */
export class MemoryTable implements RowSource, OracleTable {
  readonly columns: readonly Column[];
  #slots: (OracleRow & { live: boolean })[] = [];
  #nextPosition = 0;
  #liveRows: readonly OracleRow[] | null = null;
  readonly #vectors = new Map<string, { key: string; vector: Vector }>();

  constructor(columns: readonly Column[], data: readonly JsonObject[] = []) {
    this.columns = columns;
    this.append(data);
  }

  /** The live rows. */
  get rows(): readonly OracleRow[] {
    this.#liveRows ??= this.#slots.filter(({ live }) => live);
    return this.#liveRows;
  }

  get size(): number {
    return this.#slots.length;
  }

  get liveCount(): number {
    return this.rows.length;
  }

  isLive(index: number): boolean {
    return this.#slots[index]?.live ?? false;
  }

  positionAt(index: number): number {
    return this.#slots[index]?.position ?? -1;
  }

  /** Made when it is first asked for. */
  vector(key: string, type: VectorType): Vector {
    const name = `${type} ${key}`;
    const known = this.#vectors.get(name);
    if (known !== undefined) return known.vector;
    const vector = createVector(type);
    vector.append(this.#slots.map(({ data }) => valueOf(data, key)));
    this.#vectors.set(name, { key, vector });
    return vector;
  }

  longMatches(clause: ColumnClause | SubstringClause): ReadonlySet<number> {
    const isSubstring = clause.kind === "substring";
    const key = isSubstring ? clause.key : clause.column.id;
    const vector = this.vector(key, isSubstring ? "any" : clause.column.type);
    return new Set(
      longIndexes(vector).filter((index) =>
        matchesValue(clause, valueOf(this.#slots[index]?.data ?? {}, key)),
      ),
    );
  }

  longLabels({ id, type }: Column, search: string): ReadonlySet<number> {
    const rows = this.vector(id, type).cutRows();
    const needle = fold(search);
    return new Set(
      rows.filter((index) =>
        fold(textOf(valueOf(this.#slots[index]?.data ?? {}, id))).includes(needle),
      ),
    );
  }

  append(data: readonly JsonObject[]): void {
    this.#liveRows = null;
    for (const each of data) {
      this.#slots.push({ position: this.#nextPosition, data: each, live: true });
      this.#nextPosition += 1;
    }
    for (const { key, vector } of this.#vectors.values()) {
      vector.append(data.map((each) => valueOf(each, key)));
    }
  }

  update(index: number, data: JsonObject): void {
    const slot = this.#slots[index];
    if (slot === undefined) return;
    this.#liveRows = null;
    this.#slots[index] = { ...slot, data };
    for (const { key, vector } of this.#vectors.values()) vector.set(index, valueOf(data, key));
  }

  remove(index: number): void {
    const slot = this.#slots[index];
    if (slot === undefined) return;
    this.#liveRows = null;
    slot.live = false;
  }

  /** Forgets the rows that are not live. */
  compact(): void {
    const indexes = Int32Array.from([...this.#slots.keys()].filter((index) => this.isLive(index)));
    this.#slots = this.#slots.filter(({ live }) => live);
    for (const { vector } of this.#vectors.values()) vector.keep(indexes);
  }
}

function valueOf(data: JsonObject, key: string): unknown {
  return Object.hasOwn(data, key) ? data[key] : undefined;
}
