import type { Reading } from "@workflow/db";
import type { VectorName } from "../engine/index.ts";
import { freezeSnapshot } from "../store/export-rows.ts";
import type { ReadingConnections, ReadingDatabase } from "../store/reading-database.ts";
import { loadPositions } from "../store/rows-load.ts";
import { tableNotFound } from "../store/states.ts";
import type { TableHead, TableKey } from "../store/states.ts";
import type { OnCacheEvent } from "../memory/cache-events.ts";
import { ColumnReads } from "./column-reads.ts";
import { ColumnScans } from "./column-scans.ts";
import { gatherChanges } from "./gather-changes.ts";
import { Positions } from "./positions.ts";
import { parseArray } from "./read-part.ts";
import { orAborted, SharedWork } from "./shared-work.ts";
import { runPaced } from "../memory/slices.ts";
import type { Slices } from "../memory/slices.ts";
import { idOf, Snapshot } from "./snapshot.ts";
import type { SeenSnapshot } from "./snapshot.ts";
import type { TableMemory } from "./table-memory.ts";
import { TableSpill } from "./table-spill.ts";
import type { TableSpills } from "./table-spill.ts";

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
  readonly #spill: TableSpill;
  readonly #reads: ColumnReads;
  readonly #onEvent: OnCacheEvent;
  readonly #scans = new ColumnScans((names, signal) => this.#load(names, signal));
  #seen: SeenSnapshot | null = null;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #nextCatchUp: CatchUp | null = null;

  constructor(options: {
    connections: ReadingConnections;
    slices: Slices;
    memory: TableMemory;
    spills: TableSpills | null;
    head: TableHead;
    onEvent: OnCacheEvent;
  }) {
    const { companyId, tableKey } = options.head;
    this.#connections = options.connections;
    const { memory, slices, onEvent } = options;
    this.memory = memory;
    this.#onEvent = onEvent;
    const table = { companyId, tableKey };
    this.table = table;
    const spill = new TableSpill(options.spills, options.head);
    this.#spill = spill;
    this.#reads = new ColumnReads({ table, slices, memory, spill, onEvent });
    memory.onColumnEvicted((snapshot, name) => spill.saveColumn(snapshot, name));
    memory.onDropped((cause) => {
      if (cause !== "evicted") spill.forget();
      else if (this.#seen !== null) spill.saveTable(this.#seen);
      this.#seen = null;
    });
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
    if (this.#seen === null && this.#spill.hasTable) await this.#revive();
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

  /** Goes on from what is on disk. */
  #revive(): Promise<void> {
    return this.#inLine(async () => {
      if (this.#seen !== null) return;
      const seen = await this.#spill.takeTable();
      if (seen === null) return;
      this.#seen = seen;
      this.memory.used(seen.snapshot, []);
    });
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
    // Rows may get new indexes while changes are taken in.
    while (this.#seen?.snapshot.isChanging === true) await this.#lastTurn;
    const snapshot = this.#seen?.snapshot;
    if (snapshot === undefined) return;
    const stopKeeping = snapshot.keepIndexes();
    try {
      for (const column of await this.#reads.fromDisk(snapshot, names, signal)) {
        snapshot.put(column);
      }
      const missing = names.filter((name) => !snapshot.has(name));
      if (missing.length > 0) {
        const wanted = { names: missing, isFrozen: false, signal };
        const loaded = await this.#reads.fromDatabase(this.#database(signal), snapshot, wanted);
        if (this.#seen?.snapshot !== snapshot) return;
        if (loaded === null) return this.#lose();
        for (const column of loaded) snapshot.put(column);
      }
      if (this.#seen?.snapshot === snapshot) this.memory.used(snapshot, names);
    } catch (error) {
      if (signal.aborted) this.#onEvent("scan abandoned");
      throw error;
    } finally {
      stopKeeping();
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
    const loaded = await this.#reads.fromDatabase(transaction, snapshot, wanted);
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
    if (datas !== null) await this.#reads.ofDatas(snapshot, names, parseArray(datas));
    const seen = { snapshot, head: { schemaRevision, history } };
    this.#seen = seen;
    this.memory.used(snapshot, names);
    return seen;
  }

  #lose(): void {
    this.#onEvent("lost");
    this.memory.forget();
    this.#spill.forget();
    this.#seen = null;
  }
}
