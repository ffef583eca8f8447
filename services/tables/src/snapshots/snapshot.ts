import type { Steps, Vector, VectorName, VectorType } from "../engine/index.ts";
import type { HeadVersion } from "../store/states.ts";
import { Positions } from "./positions.ts";
import type { TableSource } from "./table-source.ts";

/** A vector with the last revision of the table that it has taken in. */
export interface LoadedVector extends VectorName {
  readonly vector: Vector;
  /** The revision of the snapshot or an earlier one. Some values may be newer already. */
  readonly revision: number;
}

/** The lag of some columns behind the table, and of the snapshot itself. */
export interface Lag {
  readonly columns: readonly LoadedVector[];
  readonly history: string;
  /** The last revision whose rows are known. */
  readonly revision: number;
  /** The last revision whose values are known in all of the columns. */
  readonly valuesSince: number;
  readonly lastPosition: number;
  readonly keys: readonly string[];
}

/** All changes up to a revision. */
export interface ChangeSet {
  readonly revision: number;
  /** New values by position; each row has one value for each of `keys`. */
  readonly rows: ReadonlyMap<number, readonly unknown[]>;
  readonly keys: readonly string[];
  readonly deleted: readonly number[];
}

/** The places of rows, without columns, as plain data. */
export interface SavedRows {
  readonly history: string;
  readonly revision: number;
  readonly layout: number;
  /** Null when each row's index is its position. */
  readonly positions: Float64Array<ArrayBuffer> | null;
  /** 1 for rows that exist, 0 for deleted ones. */
  readonly live: Uint8Array<ArrayBuffer>;
}

/** A snapshot, and the head that the table had at its revision. */
export interface SeenSnapshot {
  readonly snapshot: Snapshot;
  readonly head: HeadVersion;
}

/** Dead rows are cleared away above this share of all rows, and above the minimum below. */
const DEAD_SHARE_MAX = 0.25;
const DEAD_MIN = 64;
/** The number of values that one step takes in; each may have 2,000 characters. */
const STEP_ROWS = 1_000;

/**
 * The rows of a table at one revision: their places, and the columns that questions needed. A column may be behind
 * until a question needs it. No column counts as current while changes are taken in, so no answer rests on half of
 * a change.
 */
export class Snapshot implements TableSource {
  /** The history of the database when this was read. */
  readonly history: string;
  static #layouts = 0;
  #layout = (Snapshot.#layouts += 1);
  #revision: number;
  #positions: Positions;
  /** 1 for rows that exist, 0 for deleted ones. */
  #live: Uint8Array<ArrayBuffer>;
  #liveCount: number;
  #readers = 0;
  #changes = 0;
  #isChanging = false;
  readonly #vectors = new Map<string, LoadedVector>();
  readonly #watchers = new Set<Set<number>>();

  constructor(history: string, revision: number, positions: Positions) {
    this.history = history;
    this.#revision = revision;
    this.#positions = positions;
    this.#live = new Uint8Array(Math.max(positions.size, 16)).fill(1, 0, positions.size);
    this.#liveCount = positions.size;
  }

  /**
   * Makes the snapshot that was saved, without columns. It replaces the saved one, which must not be used again.
   */
  static of({ history, revision, layout, positions, live }: SavedRows): Snapshot {
    const size = live.length;
    const places = positions === null ? Positions.dense(size) : Positions.of(positions);
    const snapshot = new Snapshot(history, revision, places);
    snapshot.#layout = layout;
    snapshot.#live = live;
    snapshot.#liveCount = live.reduce((count, isLive) => count + isLive, 0);
    return snapshot;
  }

  /** Where the rows lie, as plain data that shares no memory with the snapshot. */
  save(): SavedRows {
    const { history, revision, layout } = this;
    const live = this.#live.slice(0, this.size);
    return { history, revision, layout, positions: this.#positions.saved(), live };
  }

  /**
   * A number for the indexes of rows. Snapshots with the same layout agree about every row that both know. Within a
   * process only a snapshot and its saved form share a layout.
   */
  get layout(): number {
    return this.#layout;
  }

  /** Whether changes are being taken in, so that columns may be halfway. */
  get isChanging(): boolean {
    return this.#isChanging;
  }

  get revision(): number {
    return this.#revision;
  }

  get size(): number {
    return this.#positions.size;
  }

  get liveCount(): number {
    return this.#liveCount;
  }

  /** The number of changes that have begun. */
  get changes(): number {
    return this.#changes;
  }

  /** The bytes in memory without the vectors. */
  get bytes(): number {
    return this.#positions.bytes + this.#live.byteLength;
  }

  /**
   * Whether every position up to the last one has a row, so that each row's index is its position.
   */
  get isDense(): boolean {
    return this.#liveCount === this.#positions.last + 1;
  }

  isLive(index: number): boolean {
    return this.#live[index] === 1;
  }

  positionAt(index: number): number {
    return this.#positions.at(index);
  }

  /** The index of the row at a position; -1 when there is no row. */
  indexOf(position: number): number {
    const index = this.#positions.indexOf(position);
    return index >= 0 && this.isLive(index) ? index : -1;
  }

  has(name: VectorName): boolean {
    return this.#vectors.has(idOf(name));
  }

  /** Whether all of these columns are here and have this revision. */
  isCurrent(names: readonly VectorName[]): boolean {
    if (this.#isChanging) return false;
    return names.every((name) => this.#vectors.get(idOf(name))?.revision === this.#revision);
  }

  vector(key: string, type: VectorType): Vector {
    const loaded = this.#vectors.get(idOf({ key, type }));
    if (loaded === undefined) throw new Error(`The column ${key} (${type}) is not in memory.`);
    return loaded.vector;
  }

  /** A column with its revision; undefined when it is not here. */
  loaded(name: VectorName): LoadedVector | undefined {
    return this.#vectors.get(idOf(name));
  }

  vectors(): Iterable<LoadedVector> {
    return this.#vectors.values();
  }

  /**
   * Adds a column; its rows must have kept their indexes while it was read. A column that is here already stays.
   * Some values of the new column may be newer than its revision, so its lag has to be asked for again before it is
   * used.
   */
  put(loaded: LoadedVector): void {
    if (!this.has(loaded)) this.#vectors.set(idOf(loaded), loaded);
  }

  /**
   * Adds a column that was read at the snapshot's own revision. Only the holder of the turn to change the snapshot
   * may call this: nobody else can be using the lag of a replaced column then.
   */
  putCurrent({ key, type, vector }: Omit<LoadedVector, "revision">): void {
    this.#vectors.set(idOf({ key, type }), { key, type, vector, revision: this.#revision });
  }

  drop(name: VectorName): void {
    this.#vectors.delete(idOf(name));
  }

  /** The lag of those of these columns that are here. */
  lagOf(names: readonly VectorName[]): Lag {
    const loaded = names.flatMap((name) => this.#vectors.get(idOf(name)) ?? []);
    return {
      columns: loaded,
      history: this.history,
      revision: this.#revision,
      valuesSince: Math.min(this.#revision, ...loaded.map(({ revision }) => revision)),
      lastPosition: this.#positions.last,
      keys: [...new Set(loaded.map(({ key }) => key))],
    };
  }

  /** Makes rows keep their indexes until the returned function is called. */
  keepIndexes(): () => void {
    this.#readers += 1;
    return () => {
      this.#readers -= 1;
    };
  }

  /** Adds the positions of changing rows to a set until the returned function is called. */
  watch(changed: Set<number>): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  /**
   * Brings the snapshot and some columns to a later revision. The changes must begin where `lagOf` said for these
   * columns. Once begun, the steps must be finished before other changes begin.
   */
  *applyInSteps(changes: ChangeSet, columns: readonly LoadedVector[]): Steps {
    const { revision, rows, keys } = changes;
    this.#changes += 1;
    this.#isChanging = true;
    const last = this.#positions.last;
    const added = [...rows.keys()].filter((position) => position > last).sort((a, b) => a - b);
    for (const position of added) {
      this.#markLive(this.size);
      this.#positions.push(position);
    }
    this.#liveCount += added.length;
    for (const column of columns) {
      // The column was dropped, or read again, after its lag was asked for.
      if (this.#vectors.get(idOf(column)) !== column) continue;
      yield* this.#update(column.vector, changes, keys.indexOf(column.key));
      // The column may also go between two steps.
      if (this.#vectors.get(idOf(column)) !== column) continue;
      this.#vectors.set(idOf(column), { ...column, revision });
    }
    for (const position of changes.deleted) this.#delete(position);
    this.#revision = revision;
    for (const watcher of this.#watchers) {
      for (const position of rows.keys()) watcher.add(position);
    }
    yield* this.#clearDead();
    this.#isChanging = false;
  }

  *#update(vector: Vector, { rows }: ChangeSet, place: number): Steps {
    const known = vector.length;
    let taken = 0;
    for (const [position, values] of rows) {
      taken += 1;
      if (taken % STEP_ROWS === 0) yield;
      const index = this.#positions.indexOf(position);
      if (index < 0) throw new Error(`The snapshot knows of no row at ${position}.`);
      if (index < known) vector.set(index, values[place]);
    }
    for (let from = known; from < this.size; from += STEP_ROWS) {
      yield;
      const to = Math.min(from + STEP_ROWS, this.size);
      const added = Array.from({ length: to - from }, (_, row) =>
        rows.get(this.positionAt(from + row))?.at(place),
      );
      vector.append(added);
    }
  }

  #delete(position: number): void {
    const index = this.indexOf(position);
    if (index < 0) return;
    this.#live[index] = 0;
    this.#liveCount -= 1;
  }

  #markLive(index: number): void {
    if (index === this.#live.length) {
      const grown = new Uint8Array(index * 2);
      grown.set(this.#live);
      this.#live = grown;
    }
    this.#live[index] = 1;
  }

  /**
   * Removes dead rows and gives the others new indexes. Nobody may use indexes before the last step (`isChanging`).
   */
  *#clearDead(): Steps {
    const dead = this.size - this.#liveCount;
    if (this.#readers > 0 || dead < DEAD_MIN || dead <= this.size * DEAD_SHARE_MAX) return;
    const kept = new Int32Array(this.#liveCount);
    let count = 0;
    for (let index = 0; index < this.size; index++) {
      if (this.isLive(index)) kept[count++] = index;
    }
    for (const { vector } of this.#vectors.values()) {
      yield;
      // A column that is behind learns of its unknown rows with the next changes.
      vector.append(Array.from({ length: this.size - vector.length }));
      yield* vector.keepInSteps(kept);
    }
    yield;
    this.#positions = this.#positions.kept(kept);
    this.#live = new Uint8Array(Math.max(count, 16)).fill(1, 0, count);
    this.#layout = Snapshot.#layouts += 1;
  }
}

/** One text for each name of a column. */
export function idOf({ key, type }: VectorName): string {
  return `${type}:${key}`;
}
