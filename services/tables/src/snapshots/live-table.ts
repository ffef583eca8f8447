import type { Reading } from "@workflow/db";
import type { VectorName } from "../engine/index.ts";
import { freezeSnapshot } from "../store/export-rows.ts";
import type { ReadingDatabase } from "../store/reading-database.ts";
import { loadPositions } from "../store/rows-load.ts";
import { tableNotFound } from "../store/states.ts";
import type { HeadVersion, TableHead, TableKey } from "../store/states.ts";
import type { OnCacheEvent } from "./cache-events.ts";
import { gatherChanges } from "./gather-changes.ts";
import { loadVector } from "./load-vector.ts";
import { Positions } from "./positions.ts";
import { idOf, Snapshot } from "./snapshot.ts";
import type { LoadedVector } from "./snapshot.ts";
import type { TableMemory } from "./table-memory.ts";

/** Columns of a query are read side by side, but not so many that other queries starve. */
const LOADS_AT_ONCE = 3;

/** A snapshot, and the head that the table had at its revision. */
export interface SeenSnapshot {
  snapshot: Snapshot;
  head: HeadVersion;
}

/**
 * The snapshot of one table, and how it follows the table. Whatever gives the snapshot another revision
 * stands in one line, so each change begins where the one before has ended. Nobody who waits in that line
 * holds a connection, and what has its turn waits for a connection only: there is no circle in which
 * readers and writers could wait for each other.
 */
export class LiveTable {
  readonly table: TableKey;
  readonly memory: TableMemory;
  readonly #database: ReadingDatabase;
  readonly #onEvent: OnCacheEvent;
  readonly #loads = new Map<string, Promise<void>>();
  #seen: SeenSnapshot | null = null;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #nextCatchUp: { names: Map<string, VectorName>; done: Promise<void> } | null = null;

  /** @param options.database gives connections from the share of the table's company */
  constructor(options: {
    database: ReadingDatabase;
    memory: TableMemory;
    head: TableHead;
    onEvent: OnCacheEvent;
  }) {
    const { companyId, tableKey } = options.head;
    this.#database = options.database;
    this.memory = options.memory;
    this.#onEvent = options.onEvent;
    this.table = { companyId, tableKey };
    options.memory.onDropped(() => (this.#seen = null));
  }

  /** What is in memory now; null when nothing is. */
  get seen(): SeenSnapshot | null {
    return this.#seen;
  }

  /**
   * Reads those of the columns that are not in memory. They may be gone again after the caller's next
   * pause, and may be behind the snapshot.
   *
   * @throws AppError NOT_FOUND when the table is gone
   */
  async ensure(names: readonly VectorName[]): Promise<void> {
    if (this.#seen === null) await this.catchUp([]);
    const missing = names.filter((name) => this.#seen?.snapshot.has(name) !== true);
    this.#onEvent("hit", names.length - missing.length);
    for (let start = 0; start < missing.length; start += LOADS_AT_ONCE) {
      const some = missing.slice(start, start + LOADS_AT_ONCE);
      await Promise.all(some.map((name) => this.#loadShared(name)));
    }
  }

  /**
   * Brings the snapshot and these columns to a revision that is no older than this call. Calls that wait
   * for their turn share it.
   *
   * @throws AppError NOT_FOUND when the table is gone
   */
  catchUp(names: readonly VectorName[]): Promise<void> {
    const next = (this.#nextCatchUp ??= this.#planCatchUp());
    for (const name of names) next.names.set(idOf(name), name);
    return next.done;
  }

  /**
   * Does something in a transaction that sees one revision of the table, which the snapshot and these
   * columns have as well until that is done. What is missing of the columns, or is too far behind, is read
   * in the transaction: there is nothing that it would have to catch up with.
   *
   * @throws AppError NOT_FOUND when the table is gone
   */
  frozen<Result>(
    names: readonly VectorName[],
    work: (transaction: Reading, seen: SeenSnapshot) => Promise<Result>,
  ): Promise<Result> {
    return this.#inLine(() =>
      this.#database.transaction(async (transaction) => {
        await freezeSnapshot(transaction);
        const seen = await this.#follow(transaction, names);
        await this.#readMissing(transaction, names, seen.snapshot);
        return work(transaction, seen);
      }),
    );
  }

  #planCatchUp(): { names: Map<string, VectorName>; done: Promise<void> } {
    const names = new Map<string, VectorName>();
    const done = this.#inLine(async () => {
      this.#nextCatchUp = null;
      const wanted = [...names.values()];
      if ((await this.#takeChanges(this.#database, wanted, { isFrozen: false })) !== "more") return;
      await this.#database.transaction(async (transaction) => {
        await freezeSnapshot(transaction);
        await this.#follow(transaction, wanted);
      });
    });
    return { names, done };
  }

  #inLine<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }

  /** Queries that miss the same column wait for the same reading of it. */
  #loadShared(name: VectorName): Promise<void> {
    const id = idOf(name);
    const running = this.#loads.get(id);
    if (running !== undefined) return running;
    // Somebody else may have read it since it was found missing.
    if (this.#seen?.snapshot.has(name) === true) return Promise.resolve();
    const load = this.#load(name).finally(() => this.#loads.delete(id));
    this.#loads.set(id, load);
    return load;
  }

  async #load(name: VectorName): Promise<void> {
    const snapshot = this.#seen?.snapshot;
    if (snapshot === undefined) return;
    this.#onEvent("load");
    const stopKeeping = snapshot.keepIndexes();
    try {
      const loaded = await this.#readColumn(this.#database, snapshot, name);
      if (this.#seen?.snapshot !== snapshot) return;
      if (loaded === null) return this.#lose();
      snapshot.put(loaded);
      this.memory.used(snapshot, [name]);
    } finally {
      stopKeeping();
    }
  }

  async #readColumn(
    database: Reading,
    snapshot: Snapshot,
    name: VectorName,
  ): Promise<LoadedVector | null> {
    const load = this.memory.load();
    try {
      return await loadVector({
        database,
        tableKey: this.table.tableKey,
        snapshot,
        name,
        onGrown: (bytes) => load.grown(bytes),
      });
    } finally {
      load.end();
    }
  }

  /** Reads in a frozen transaction those of the columns that are not of its revision. */
  async #readMissing(
    transaction: Reading,
    names: readonly VectorName[],
    snapshot: Snapshot,
  ): Promise<void> {
    for (const name of names) {
      if (snapshot.isCurrent([name])) continue;
      this.#onEvent("load");
      const loaded = await this.#readColumn(transaction, snapshot, name);
      if (loaded === null) throw new Error("A transaction has seen two histories.");
      snapshot.putCurrent(loaded);
      if (this.#seen?.snapshot === snapshot) this.memory.used(snapshot, [name]);
    }
  }

  /** Takes all changes that a frozen transaction sees. */
  async #follow(transaction: Reading, names: readonly VectorName[]): Promise<SeenSnapshot> {
    const seen = await this.#takeChanges(transaction, names, { isFrozen: true });
    if (seen === "more") throw new Error("A frozen transaction is told everything.");
    return seen;
  }

  /** "more": it takes a frozen transaction. */
  async #takeChanges(
    database: Reading,
    names: readonly VectorName[],
    following: { isFrozen: boolean },
  ): Promise<SeenSnapshot | "more"> {
    const snapshot = this.#seen?.snapshot;
    if (snapshot === undefined) return this.#open(database);
    const lag = snapshot.lagOf(names);
    const gathered = await gatherChanges(database, this.table, lag, following);
    // Dropped meanwhile.
    if (this.#seen?.snapshot !== snapshot) return this.#open(database);
    switch (gathered.found) {
      case "more":
        return "more";
      case "no table":
        throw tableNotFound();
      case "too much": {
        const behind = lag.columns.filter(({ revision }) => revision < lag.revision);
        if (behind.length === 0) return this.#openAnew(database);
        // The rest goes on; whoever needs these reads them afresh.
        for (const column of behind) {
          snapshot.drop(column);
          this.memory.forgetColumn(column);
        }
        return this.#takeChanges(database, names, following);
      }
      case "another history":
      case "too old":
        return this.#openAnew(database);
      case "changes":
        try {
          snapshot.apply(gathered.changes, lag.columns);
        } catch (error) {
          // A part of the changes may be in, which nobody may see.
          this.#lose();
          throw error;
        }
        this.memory.used(snapshot, names);
        return (this.#seen = { snapshot, head: gathered.head });
    }
  }

  #openAnew(database: Reading): Promise<SeenSnapshot> {
    this.#lose();
    return this.#open(database);
  }

  async #open(database: Reading): Promise<SeenSnapshot> {
    const found = await loadPositions(database, this.table);
    if (found === null) throw tableNotFound();
    const { history, revision, schemaRevision, nextPosition, positions: given } = found;
    const positions = given === null ? Positions.dense(nextPosition) : Positions.of(given);
    const snapshot = new Snapshot(history, revision, positions);
    const seen = { snapshot, head: { schemaRevision, history } };
    this.#seen = seen;
    this.memory.used(snapshot, []);
    return seen;
  }

  #lose(): void {
    this.#onEvent("lost");
    this.memory.forget();
    this.#seen = null;
  }
}
