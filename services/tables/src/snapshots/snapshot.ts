import type { Vector, VectorName, VectorType } from "../engine/index.ts";
import type { Positions } from "./positions.ts";
import type { TableSource } from "./question.ts";

/** A vector that was read from the database beside the snapshot. */
export interface LoadedVector extends VectorName {
  readonly vector: Vector;
  /** Of the snapshot when the reading began; what has changed since is still to be told. */
  readonly revision: number;
}

/** Everything that has happened up to a revision. */
export interface ChangeSet {
  readonly revision: number;
  /** By position, each with one value for each of `keys`. */
  readonly rows: ReadonlyMap<number, readonly unknown[]>;
  readonly keys: readonly string[];
  readonly deleted: readonly number[];
}

/** Dead rows are cleared away when they are more than this part of all, and worth the work. */
const DEAD_SHARE_MAX = 0.25;
const DEAD_MIN = 64;

/**
 * The rows of a table as they were at one revision, as far as queries needed them: positions, and
 * values by column. It is only ever changed as a whole, without a pause, so nobody sees a part of a
 * change.
 */
export class Snapshot implements TableSource {
  #revision: number;
  #positions: Positions;
  /** 1 for rows that exist, 0 for deleted ones. */
  #live: Uint8Array;
  #liveCount: number;
  #readers = 0;
  readonly #vectors = new Map<string, LoadedVector>();
  readonly #watchers = new Set<Set<number>>();

  constructor(revision: number, positions: Positions) {
    this.#revision = revision;
    this.#positions = positions;
    this.#live = new Uint8Array(Math.max(positions.size, 16)).fill(1, 0, positions.size);
    this.#liveCount = positions.size;
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

  vector(key: string, type: VectorType): Vector {
    const loaded = this.#vectors.get(idOf({ key, type }));
    if (loaded === undefined) throw new Error(`The column ${key} (${type}) is not in memory.`);
    return loaded.vector;
  }

  vectors(): Iterable<LoadedVector> {
    return this.#vectors.values();
  }

  drop(name: VectorName): void {
    this.#vectors.delete(idOf(name));
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
   * Goes on to another revision, and takes in vectors that were read meanwhile. The changes must
   * reach back to the revision of the snapshot and of each vector, and tell the values of all their
   * keys.
   */
  apply(changes: ChangeSet, loaded: readonly LoadedVector[]): void {
    for (const each of loaded) {
      each.vector.append(Array.from({ length: this.size - each.vector.length }));
      this.#vectors.set(idOf(each), each);
    }
    const deleted = new Set(changes.deleted);
    this.#change(changes, deleted);
    this.#append(changes, deleted);
    for (const position of changes.deleted) this.#delete(position);
    for (const { vector, key } of this.#vectors.values()) {
      if (vector.length !== this.size) throw new Error(`The column ${key} has lost rows.`);
    }
    this.#revision = changes.revision;
    for (const watcher of this.#watchers) {
      for (const position of changes.rows.keys()) watcher.add(position);
    }
    this.#clearDead();
  }

  #change({ rows, keys }: ChangeSet, deleted: ReadonlySet<number>): void {
    const last = this.#positions.last;
    for (const [position, values] of rows) {
      if (position > last || deleted.has(position)) continue;
      const index = this.#positions.indexOf(position);
      if (index < 0) throw new Error(`The snapshot knows of no row at ${position}.`);
      for (const [place, key] of keys.entries()) {
        for (const vector of this.#vectorsOf(key)) vector.set(index, values[place]);
      }
    }
  }

  #append({ rows, keys }: ChangeSet, deleted: ReadonlySet<number>): void {
    const last = this.#positions.last;
    const added = [...rows.keys()]
      .filter((position) => position > last && !deleted.has(position))
      .sort((a, b) => a - b);
    for (const position of added) {
      this.#markLive(this.size);
      this.#positions.push(position);
    }
    this.#liveCount += added.length;
    for (const [place, key] of keys.entries()) {
      const values = added.map((position) => rows.get(position)?.[place]);
      for (const vector of this.#vectorsOf(key)) vector.append(values);
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

  *#vectorsOf(key: string): Generator<Vector> {
    for (const loaded of this.#vectors.values()) if (loaded.key === key) yield loaded.vector;
  }

  #clearDead(): void {
    const dead = this.size - this.#liveCount;
    if (this.#readers > 0 || dead < DEAD_MIN || dead <= this.size * DEAD_SHARE_MAX) return;
    const kept = new Int32Array(this.#liveCount);
    let count = 0;
    for (let index = 0; index < this.size; index++) {
      if (this.isLive(index)) kept[count++] = index;
    }
    for (const { vector } of this.#vectors.values()) vector.keep(kept);
    this.#positions = this.#positions.kept(kept);
    this.#live = new Uint8Array(Math.max(count, 16)).fill(1, 0, count);
  }
}

/** One text for each name. */
export function idOf({ key, type }: VectorName): string {
  return `${type}:${key}`;
}
