import type { Database, Queryable } from "@workflow/db";
import type { VectorName } from "../engine/index.ts";
import { loadPositions } from "../store/rows-load.ts";
import { tableNotFound } from "../store/states.ts";
import type { TableHead, TableKey } from "../store/states.ts";
import { gatherChanges } from "./gather-changes.ts";
import { loadVector } from "./load-vector.ts";
import type { Cached, MemoryBudget } from "./memory-budget.ts";
import { Positions } from "./positions.ts";
import { idOf, Snapshot } from "./snapshot.ts";
import type { ChangeSet, LoadedVector } from "./snapshot.ts";

/** Columns of a query are read side by side, but not so many that other queries starve. */
const LOADS_AT_ONCE = 3;
/** How often a snapshot may be lost while a query waits for its columns. */
const LOST_MAX = 5;
/** What a table takes up beside its rows and columns; a rough figure. */
const BASE_BYTES = 1_024;

/**
 * The snapshot of one table, which follows the table when it is asked to. Everything that changes the
 * snapshot stands in one line, so each change begins where the one before has ended.
 */
export class LiveTable implements Cached {
  readonly #database: Database;
  readonly #budget: MemoryBudget;
  readonly #table: TableKey;
  readonly #onDropped: () => void;
  readonly #slots = new Map<string, Cached>();
  readonly #uses = new Map<string, number>();
  readonly #loads = new Map<string, Promise<void>>();
  #users = 0;
  #snapshot: Snapshot | null = null;
  #schemaRevision = 0;
  #loaded: { snapshot: Snapshot; vector: LoadedVector }[] = [];
  #lastUpdate: Promise<void> = Promise.resolve();
  #nextUpdate: Promise<void> | null = null;

  constructor(options: {
    database: Database;
    budget: MemoryBudget;
    head: TableHead;
    /** Told when the memory was given back. */
    onDropped: () => void;
  }) {
    const { companyId, tableKey } = options.head;
    this.#database = options.database;
    this.#budget = options.budget;
    this.#table = { companyId, tableKey };
    this.#onDropped = options.onDropped;
  }

  get companyId(): string {
    return this.#table.companyId;
  }

  get inUse(): boolean {
    return this.#users > 0;
  }

  /** What is in memory now; null when nothing is. */
  get snapshot(): Snapshot | null {
    return this.#snapshot;
  }

  /** That of the table's head when the snapshot was last up to date. */
  get schemaRevision(): number {
    return this.#schemaRevision;
  }

  drop(): void {
    this.#lose();
    this.#onDropped();
  }

  /** Keeps the table and these columns in memory, once they are there, until the result is called. */
  use(names: readonly VectorName[]): () => void {
    const ids = names.map(idOf);
    this.#users += 1;
    for (const id of ids) this.#uses.set(id, (this.#uses.get(id) ?? 0) + 1);
    return () => {
      this.#users -= 1;
      for (const id of ids) {
        const uses = (this.#uses.get(id) ?? 0) - 1;
        if (uses > 0) this.#uses.set(id, uses);
        else this.#uses.delete(id);
      }
      // Queries leave things behind in columns, such as the order of their values.
      if (this.#snapshot !== null) this.#noteSizes(this.#snapshot);
      this.#budget.trim();
    };
  }

  /**
   * The snapshot with these columns, of whatever revision. It may be another one after the caller's
   * next pause.
   *
   * @throws AppError NOT_FOUND when the table is gone
   */
  async withVectors(names: readonly VectorName[]): Promise<Snapshot> {
    for (let lost = 0; lost < LOST_MAX; lost++) {
      if (this.#snapshot === null) await this.refresh();
      const snapshot = this.#snapshot;
      if (snapshot === null) continue;
      const missing = names.filter((name) => !snapshot.has(name));
      if (missing.length === 0) {
        this.#noteUse(snapshot, names);
        return snapshot;
      }
      for (let start = 0; start < missing.length; start += LOADS_AT_ONCE) {
        const some = missing.slice(start, start + LOADS_AT_ONCE);
        await Promise.all(some.map((name) => this.#loadShared(snapshot, name)));
      }
    }
    throw new Error("The snapshot of a table was lost again and again.");
  }

  /**
   * Brings the snapshot to a revision that is no older than this call. Calls that wait for their turn
   * share it.
   *
   * @throws AppError NOT_FOUND when the table is gone
   */
  refresh(): Promise<void> {
    this.#nextUpdate ??= this.#inLine(() => {
      this.#nextUpdate = null;
      return this.#update(this.#database);
    });
    return this.#nextUpdate;
  }

  /** Like `refresh`, on the connection of a transaction. */
  refreshWithin(transaction: Queryable): Promise<void> {
    return this.#inLine(() => this.#update(transaction));
  }

  #inLine(update: () => Promise<void>): Promise<void> {
    const turn = this.#lastUpdate.then(update);
    this.#lastUpdate = turn.catch(() => {});
    return turn;
  }

  /** Queries that miss the same column wait for the same reading of it. */
  #loadShared(snapshot: Snapshot, name: VectorName): Promise<void> {
    const id = idOf(name);
    const running = this.#loads.get(id);
    if (running !== undefined) return running;
    const load = this.#load(snapshot, name).finally(() => this.#loads.delete(id));
    this.#loads.set(id, load);
    return load;
  }

  async #load(snapshot: Snapshot, name: VectorName): Promise<void> {
    const stopKeeping = snapshot.keepIndexes();
    try {
      const vector = await loadVector(this.#database, this.#table.tableKey, snapshot, name);
      this.#loaded.push({ snapshot, vector });
      await this.refresh();
    } finally {
      stopKeeping();
    }
  }

  async #update(queryable: Queryable): Promise<void> {
    const snapshot = this.#snapshot;
    const loaded = this.#loaded.flatMap((each) => (each.snapshot === snapshot ? each.vector : []));
    this.#loaded = [];
    if (snapshot === null) return this.#open(queryable);
    const keys = new Set([...snapshot.vectors(), ...loaded].map(({ key }) => key));
    const since = Math.min(snapshot.revision, ...loaded.map(({ revision }) => revision));
    const gathered = await gatherChanges(queryable, this.#table, since, [...keys]);
    if (gathered.found === "no table") throw tableNotFound();
    // Dropped meanwhile: whoever needs it opens it.
    if (this.#snapshot !== snapshot) return;
    if (gathered.found === "too much") {
      this.#lose();
      return this.#open(queryable);
    }
    this.#schemaRevision = gathered.schemaRevision;
    this.#apply(snapshot, gathered.changes, loaded);
  }

  #apply(snapshot: Snapshot, changes: ChangeSet, loaded: readonly LoadedVector[]): void {
    try {
      snapshot.apply(changes, loaded);
    } catch (error) {
      // A part of the changes may be in, which nobody may see.
      this.#lose();
      throw error;
    }
    this.#noteSizes(snapshot);
    this.#noteUse(snapshot, loaded);
  }

  async #open(queryable: Queryable): Promise<void> {
    const found = await loadPositions(queryable, this.#table);
    if (found === null) throw tableNotFound();
    const { revision, schemaRevision, nextPosition, positions } = found;
    this.#schemaRevision = schemaRevision;
    this.#snapshot = new Snapshot(
      revision,
      positions === null ? Positions.dense(nextPosition) : Positions.of(positions),
    );
    this.#noteUse(this.#snapshot, []);
  }

  #lose(): void {
    for (const slot of this.#slots.values()) this.#budget.forget(slot);
    this.#slots.clear();
    this.#budget.forget(this);
    this.#snapshot = null;
  }

  #noteUse(snapshot: Snapshot, names: readonly VectorName[]): void {
    for (const name of names) {
      this.#budget.use(this.#slotOf(snapshot, name), snapshot.vector(name.key, name.type).bytes);
    }
    // After its columns, so that it does not go before them.
    this.#budget.use(this, BASE_BYTES + snapshot.bytes);
    this.#budget.trim();
  }

  #noteSizes(snapshot: Snapshot): void {
    for (const loaded of snapshot.vectors()) {
      this.#budget.resize(this.#slotOf(snapshot, loaded), loaded.vector.bytes);
    }
  }

  #slotOf(snapshot: Snapshot, { key, type }: VectorName): Cached {
    const id = idOf({ key, type });
    const known = this.#slots.get(id);
    if (known !== undefined) return known;
    const uses = this.#uses;
    const slot: Cached = {
      get inUse() {
        return uses.has(id);
      },
      drop: () => {
        this.#slots.delete(id);
        snapshot.drop({ key, type });
      },
    };
    this.#slots.set(id, slot);
    return slot;
  }
}
