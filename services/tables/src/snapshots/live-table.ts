import { setImmediate as nextTurn } from "node:timers/promises";
import type { Reading } from "@workflow/db";
import { createVector } from "../engine/index.ts";
import type { VectorName } from "../engine/index.ts";
import { freezeSnapshot } from "../store/export-rows.ts";
import type { ReadingConnections, ReadingDatabase } from "../store/reading-database.ts";
import { loadPositions } from "../store/rows-load.ts";
import { tableNotFound } from "../store/states.ts";
import type { HeadVersion, TableHead, TableKey } from "../store/states.ts";
import type { OnCacheEvent } from "./cache-events.ts";
import { ColumnScans } from "./column-scans.ts";
import { gatherChanges } from "./gather-changes.ts";
import { loadVectors } from "./load-vectors.ts";
import { Positions } from "./positions.ts";
import { memberOf, parseArray } from "./read-part.ts";
import { orAborted, SharedWork } from "./shared-work.ts";
import { LOAD_SLICE_MS, runPaced } from "./slices.ts";
import type { Slices } from "./slices.ts";
import { idOf, Snapshot } from "./snapshot.ts";
import type { LoadedVector } from "./snapshot.ts";
import type { TableMemory } from "./table-memory.ts";

/** A snapshot, and the head that the table had at its revision. */
export interface SeenSnapshot {
  snapshot: Snapshot;
  head: HeadVersion;
}

/** A catch-up that has not begun, and the columns that it will bring up to date. */
interface CatchUp {
  readonly names: Map<string, VectorName>;
  readonly work: SharedWork;
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
  readonly #connections: ReadingConnections;
  readonly #slices: Slices;
  readonly #onEvent: OnCacheEvent;
  readonly #scans = new ColumnScans((names, signal) => this.#load(names, signal));
  #seen: SeenSnapshot | null = null;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #nextCatchUp: CatchUp | null = null;

  constructor(options: {
    connections: ReadingConnections;
    slices: Slices;
    memory: TableMemory;
    head: TableHead;
    onEvent: OnCacheEvent;
  }) {
    const { companyId, tableKey } = options.head;
    this.#connections = options.connections;
    this.#slices = options.slices;
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
   * @throws AppError NOT_FOUND when the table is gone; the signal's reason when that is aborted first
   */
  async ensure(names: readonly VectorName[], signal?: AbortSignal): Promise<void> {
    this.#onEvent("hit", names.length - this.#missing(names).length);
    if (this.#seen === null) await this.catchUp(names, signal);
    await this.#scans.read(() => this.#missing(names), signal);
  }

  /**
   * Brings the snapshot and these columns to a revision that is no older than this call. Calls that wait
   * for their turn share it.
   *
   * @throws AppError NOT_FOUND when the table is gone; the signal's reason when that is aborted first
   */
  catchUp(names: readonly VectorName[], signal?: AbortSignal): Promise<void> {
    const known = this.#nextCatchUp;
    const next = known === null || known.work.isAbandoned ? this.#planCatchUp() : known;
    for (const name of names) next.names.set(idOf(name), name);
    return next.work.wait(signal);
  }

  /**
   * Does something in a transaction that sees one revision of the table, which the snapshot and these
   * columns have as well until that is done. What is missing of the columns, or is too far behind, is read
   * in the transaction: there is nothing that it would have to catch up with.
   *
   * @throws AppError NOT_FOUND when the table is gone; the signal's reason when that is aborted first
   */
  frozen<Result>(
    names: readonly VectorName[],
    work: (transaction: Reading, seen: SeenSnapshot) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const turn = this.#inLine(() => {
      signal?.throwIfAborted();
      return this.#database(signal).transaction(async (transaction) => {
        await freezeSnapshot(transaction);
        const seen = await this.#follow(transaction, names);
        await this.#readMissing(transaction, names, seen.snapshot);
        return work(transaction, seen);
      });
    });
    return orAborted(turn, signal);
  }

  #planCatchUp(): CatchUp {
    const names = new Map<string, VectorName>();
    const work = new SharedWork((signal) =>
      this.#inLine(async () => {
        if (this.#nextCatchUp === planned) this.#nextCatchUp = null;
        signal.throwIfAborted();
        this.#onEvent("catch-up");
        await this.#catchUpNow([...names.values()], signal);
      }),
    );
    const planned = { names, work };
    this.#nextCatchUp = planned;
    return planned;
  }

  async #catchUpNow(asked: readonly VectorName[], signal: AbortSignal): Promise<void> {
    const database = this.#database(signal);
    // With columns that others work with, which would be behind otherwise before they are done.
    const wanted = this.#withUsed(asked);
    if ((await this.#takeChanges(database, wanted, { isFrozen: false })) !== "more") return;
    await database.transaction(async (transaction) => {
      await freezeSnapshot(transaction);
      await this.#follow(transaction, wanted);
    });
  }

  #withUsed(names: readonly VectorName[]): VectorName[] {
    const snapshot = this.#seen?.snapshot;
    const ids = new Set(names.map(idOf));
    const used = snapshot === undefined ? [] : this.memory.namesInUse();
    const added = used.filter((name) => !ids.has(idOf(name)) && snapshot?.isCurrent([name]));
    return [...names, ...added];
  }

  #database(signal: AbortSignal | undefined): ReadingDatabase {
    return this.#connections.of(
      this.table.companyId,
      signal === undefined ? undefined : { signal },
    );
  }

  #inLine<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }

  #missing(names: readonly VectorName[]): VectorName[] {
    return names.filter((name) => this.#seen?.snapshot.has(name) !== true);
  }

  async #load(names: readonly VectorName[], signal: AbortSignal): Promise<void> {
    const snapshot = this.#seen?.snapshot;
    if (snapshot === undefined) return;
    const stopKeeping = snapshot.keepIndexes();
    try {
      const database = this.#database(signal);
      const loaded = await this.#readColumns(database, snapshot, {
        names,
        isFrozen: false,
        signal,
      });
      if (this.#seen?.snapshot !== snapshot) return;
      if (loaded === null) return this.#lose();
      for (const column of loaded) snapshot.put(column);
      this.memory.used(snapshot, names);
    } catch (error) {
      if (signal.aborted) this.#onEvent("scan abandoned");
      throw error;
    } finally {
      stopKeeping();
    }
  }

  async #readColumns(
    database: Reading,
    snapshot: Snapshot,
    { names, ...turns }: { names: readonly VectorName[]; isFrozen: boolean; signal?: AbortSignal },
  ): Promise<LoadedVector[] | null> {
    this.#onEvent("load", names.length);
    this.#onEvent("scan");
    const load = this.memory.load();
    try {
      return await loadVectors({
        database,
        tableKey: this.table.tableKey,
        snapshot,
        names,
        inTurns: async (steps) => {
          const { companyId } = this.table;
          const owner = { companyId, sliceMs: LOAD_SLICE_MS, ...turns };
          await this.#slices.run(owner, steps, () => true);
        },
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
    const missing = names.filter((name) => !snapshot.isCurrent([name]));
    if (missing.length === 0) return;
    const wanted = { names: missing, isFrozen: true };
    const loaded = await this.#readColumns(transaction, snapshot, wanted);
    if (loaded === null) throw new Error("A transaction has seen two histories.");
    for (const column of loaded) snapshot.putCurrent(column);
    if (this.#seen?.snapshot === snapshot) this.memory.used(snapshot, missing);
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
    if (snapshot === undefined) return this.#open(database, names);
    const lag = snapshot.lagOf(names);
    const gathered = await gatherChanges(database, this.table, lag, following);
    // Dropped meanwhile.
    if (this.#seen?.snapshot !== snapshot) return this.#open(database, names);
    switch (gathered.found) {
      case "more":
        return "more";
      case "no table":
        throw tableNotFound();
      case "too much": {
        const behind = lag.columns.filter(({ revision }) => revision < lag.revision);
        if (behind.length === 0) return this.#openAnew(database, names);
        // The rest goes on; whoever needs these reads them afresh.
        for (const column of behind) {
          snapshot.drop(column);
          this.memory.forgetColumn(column);
        }
        return this.#takeChanges(database, names, following);
      }
      case "another history":
      case "too old":
        return this.#openAnew(database, names);
      case "changes":
        try {
          await runPaced(snapshot.applyInSteps(gathered.changes, lag.columns));
        } catch (error) {
          // A part of the changes may be in, which nobody may see.
          this.#lose();
          throw error;
        }
        // Dropped between two steps.
        if (this.#seen?.snapshot !== snapshot) return this.#open(database, names);
        this.memory.used(snapshot, names);
        return (this.#seen = { snapshot, head: gathered.head });
    }
  }

  #openAnew(database: Reading, names: readonly VectorName[]): Promise<SeenSnapshot> {
    this.#lose();
    return this.#open(database, names);
  }

  /** Reads where the rows lie, and of a small table these columns by the same statement. */
  async #open(database: Reading, names: readonly VectorName[]): Promise<SeenSnapshot> {
    const withDatas = names.length > 0;
    const found = await loadPositions(database, this.table, { withDatas });
    if (found === null) throw tableNotFound();
    const { history, revision, schemaRevision, nextPosition, positions: given, datas } = found;
    const positions = given === null ? Positions.dense(nextPosition) : Positions.of(given);
    const snapshot = new Snapshot(history, revision, positions);
    if (datas !== null) await this.#takeDatas(snapshot, names, parseArray(datas));
    const seen = { snapshot, head: { schemaRevision, history } };
    this.#seen = seen;
    this.memory.used(snapshot, names);
    return seen;
  }

  /** Makes columns of the data of all rows, as it was at the snapshot's revision. */
  async #takeDatas(
    snapshot: Snapshot,
    names: readonly VectorName[],
    datas: readonly unknown[],
  ): Promise<void> {
    this.#onEvent("load", names.length);
    const load = this.memory.load();
    let bytes = 0;
    try {
      for (const { key, type } of names) {
        const vector = createVector(type);
        vector.append(datas.map((data) => memberOf(data, key)));
        bytes += vector.bytes;
        load.grown(bytes);
        snapshot.putCurrent({ key, type, vector });
        await nextTurn();
      }
    } finally {
      load.end();
    }
  }

  #lose(): void {
    this.#onEvent("lost");
    this.memory.forget();
    this.#seen = null;
  }
}
