import type { Steps, Vector, VectorName, VectorType } from "../engine/index.ts";
import type { HeadVersion } from "../store/states.ts";
import { Positions } from "./positions.ts";
import type { TableSource } from "./table-source.ts";

/** A vector, and the revision up to which it knows the table. */
export interface LoadedVector extends VectorName {
  readonly vector: Vector;
  /** That of the snapshot or an earlier one; some values may be newer already. */
  readonly revision: number;
}

/** How far some columns are behind the table, at the most. */
export interface Lag {
  readonly columns: readonly LoadedVector[];
  readonly history: string;
  /** Up to which the rows are known that there are. */
  readonly revision: number;
  /** Up to which the values are known of all the columns. */
  readonly valuesSince: number;
  readonly lastPosition: number;
  readonly keys: readonly string[];
}

/** Everything that has happened up to a revision. */
export interface ChangeSet {
  readonly revision: number;
  /** By position, each with one value for each of `keys`. */
  readonly rows: ReadonlyMap<number, readonly unknown[]>;
  readonly keys: readonly string[];
  readonly deleted: readonly number[];
}

/** Where rows lie, without the columns, as plain data. */
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

/** Dead rows are cleared away when they are more than this part of all, and worth the work. */
const DEAD_SHARE_MAX = 0.25;
const DEAD_MIN = 64;
/** Values that are taken in by one step; each may have 2,000 characters. */
const STEP_ROWS = 1_000;

/**
 * The rows of a table as they were at one revision: where they lie, and values by column, as far as
 * questions needed them. A column may be behind until somebody asks for it. While changes are taken in no
 * column is current, so nobody answers by a part of a change.
 */
export class Snapshot implements TableSource {
  /** Of the database, when all of this was read. */
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

  /** The snapshot that has given these, without columns. It takes the place of that snapshot. */
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
   * Which rows lie at which indexes: snapshots of the same layout agree in that, as far as both know the rows. No
   * two snapshots of one process have the same, except one and what was saved of it.
   */
  get layout(): number {
    return this.#layout;
  }

  /** Whether changes are being taken in: columns may be halfway. */
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

  /** Grows as each change of its rows and their values begins. */
  get changes(): number {
    return this.#changes;
  }

  /** Memory without the vectors. */
  get bytes(): number {
    return this.#positions.bytes + this.#live.byteLength;
  }

  /** Whether every position below the last one has a row: then a row's index is its position. */
  get isDense(): boolean {
    return this.#liveCount === this.#positions.last + 1;
  }

  isLive(index: number): boolean {
    return this.#live[index] === 1;
  }

  positionAt(index: number): number {
    return this.#positions.at(index);
  }

  /** The index of a row that exists; -1 when there is none at this position. */
  indexOf(position: number): number {
    const index = this.#positions.indexOf(position);
    return index >= 0 && this.isLive(index) ? index : -1;
  }

  has(name: VectorName): boolean {
    return this.#vectors.has(idOf(name));
  }

  /** Whether these columns are all here, and of this revision. */
  isCurrent(names: readonly VectorName[]): boolean {
    if (this.#isChanging) return false;
    return names.every((name) => this.#vectors.get(idOf(name))?.revision === this.#revision);
  }

  vector(key: string, type: VectorType): Vector {
    const loaded = this.#vectors.get(idOf({ key, type }));
    if (loaded === undefined) throw new Error(`The column ${key} (${type}) is not in memory.`);
    return loaded.vector;
  }

  /** A column; undefined when it is not here. */
  loaded(name: VectorName): LoadedVector | undefined {
    return this.#vectors.get(idOf(name));
  }

  vectors(): Iterable<LoadedVector> {
    return this.#vectors.values();
  }

  /**
   * Takes in a column, whose rows must have kept their indexes while it was read. One that is there already
   * stays: some values of a column may be newer than its revision, so whoever uses a column must have told
   * its lag since it was taken in.
   */
  put(loaded: LoadedVector): void {
    if (!this.has(loaded)) this.#vectors.set(idOf(loaded), loaded);
  }

  /**
   * Takes in a column that was read at the snapshot's own revision. Only for the one whose turn it is to
   * change the snapshot: nobody else has told a lag that the column before would need.
   */
  putCurrent({ key, type, vector }: Omit<LoadedVector, "revision">): void {
    this.#vectors.set(idOf({ key, type }), { key, type, vector, revision: this.#revision });
  }

  drop(name: VectorName): void {
    this.#vectors.delete(idOf(name));
  }

  /** What has to be told of the table to bring these columns up to date, those that are here. */
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

  /** Until it is told to stop, rows keep their indexes. */
  keepIndexes(): () => void {
    this.#readers += 1;
    return () => {
      this.#readers -= 1;
    };
  }

  /** Gathers the positions of rows that change, until it is told to stop. */
  watch(changed: Set<number>): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  /**
   * Goes on to a later revision, together with some columns. The changes must reach as far back as
   * `lagOf` has said of these. Once begun it has to be finished, before other changes begin.
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
      // Dropped, or read again, since its lag was told.
      if (this.#vectors.get(idOf(column)) !== column) continue;
      yield* this.#update(column.vector, changes, keys.indexOf(column.key));
      // The same between two steps.
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

  /** Gives rows new indexes. Whoever needs theirs must not come before the last step (`isChanging`). */
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
      // One that is behind hears of the rows that it does not know with the next changes.
      vector.append(Array.from({ length: this.size - vector.length }));
      yield* vector.keepInSteps(kept);
    }
    yield;
    this.#positions = this.#positions.kept(kept);
    this.#live = new Uint8Array(Math.max(count, 16)).fill(1, 0, count);
    this.#layout = Snapshot.#layouts += 1;
  }
}

/** One text for each name. */
export function idOf({ key, type }: VectorName): string {
  return `${type}:${key}`;
}
