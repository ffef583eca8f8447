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

/** A planned catch-up, and the columns that it will bring up to date. */
interface CatchUp {
  readonly names: Map<string, VectorName>;
  readonly work: SharedWork;
}

/**
 * The snapshot of one table, which follows the table. All changes of the snapshot's revision wait in one line, so
 * each begins after the end of the one before. Nobody in that line holds a connection, and the one at its head
 * waits for nothing but a connection. So readers and writers cannot wait for each other in a circle.
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

  /** The snapshot in memory; null when there is none. */
  get seen(): SeenSnapshot | null {
    return this.#seen;
  }

  /**
   * Reads the columns that are not in memory. After the caller's next pause they may be gone again, and they may be
   * behind the snapshot.
   * @throws AppError NOT_FOUND when the table is gone; the signal's reason when that is aborted first
   */
  async ensure(names: readonly VectorName[], signal?: AbortSignal): Promise<void> {
    this.#onEvent("hit", names.length - this.#missing(names).length);
    if (this.#seen === null && this.#spill.hasTable) await this.#revive();
    if (this.#seen === null) await this.catchUp(names, signal);
    await this.#scans.read(() => this.#missing(names), signal);
  }

  /**
   * Brings the snapshot and these columns to a revision that is no older than this call. Waiting calls share one
   * catch-up.
   * @throws AppError NOT_FOUND when the table is gone; the signal's reason when that is aborted first
   */
  catchUp(names: readonly VectorName[], signal?: AbortSignal): Promise<void> {
    const known = this.#nextCatchUp;
    const next = known === null || known.work.isAbandoned ? this.#planCatchUp() : known;
    for (const name of names) next.names.set(idOf(name), name);
    return next.work.wait(signal);
  }

  /**
   * Does work in a transaction that sees one revision of the table. The snapshot and these columns keep that
   * revision until the work ends. Columns that are missing, or too far behind, are read in the transaction, so they
   * need no catch-up.
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

  /** Takes the snapshot back from disk, if it is there. */
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
    // Columns in use by other questions are included, since these would have to catch up themselves otherwise.
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
    // Rows may get new indexes while the snapshot takes in changes.
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

  /** Reads in a frozen transaction the columns that have another revision. */
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

  /**
   * Takes in the changes since the last time. "more" means that only a frozen transaction returns all of them.
   */
  async #takeChanges(
    database: Reading,
    names: readonly VectorName[],
    following: { isFrozen: boolean },
  ): Promise<SeenSnapshot | "more"> {
    const snapshot = this.#seen?.snapshot;
    if (snapshot === undefined) return this.#open(database, names);
    const lag = snapshot.lagOf(names);
    const gathered = await gatherChanges(database, this.table, lag, following);
    // The snapshot was dropped meanwhile.
    if (this.#seen?.snapshot !== snapshot) return this.#open(database, names);
    switch (gathered.found) {
      case "more":
        return "more";
      case "no table":
        throw tableNotFound();
      case "too much": {
        const behind = lag.columns.filter(({ revision }) => revision < lag.revision);
        if (behind.length === 0) return this.#openAnew(database, names);
        // The other columns go on; a question that needs a dropped one reads it again.
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
          // Some changes may be in the snapshot and others not, so nobody may see it.
          this.#lose();
          throw error;
        }
        // The snapshot was dropped between two steps.
        if (this.#seen?.snapshot !== snapshot) return this.#open(database, names);
        this.memory.used(snapshot, names);
        return (this.#seen = { snapshot, head: gathered.head });
    }
  }

  #openAnew(database: Reading, names: readonly VectorName[]): Promise<SeenSnapshot> {
    this.#lose();
    return this.#open(database, names);
  }

  /** Reads the places of the rows. The same statement reads these columns of a small table. */
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
