import { Turns } from "@workflow/async";
import { newUuid } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import { tooManyOfCompany, waitSignal } from "../company-connections.ts";
import type { Caller, CompanyConnections } from "../company-connections.ts";
import type { TableHeads } from "../snapshots/index.ts";
import { deleteRowAtOnce, updateRowAtOnce } from "../store/rows-change.ts";
import type { ChangeOutcome, RowUpdate } from "../store/rows-change.ts";
import type { RowBytesMax } from "../store/row-bytes.ts";
import { insertRowsAtOnce } from "../store/rows-insert.ts";
import { rowNotFound } from "../store/rows-record.ts";
import type { RowRecord } from "../store/rows-record.ts";
import { isSameHead } from "../store/states.ts";
import type { TableHead, TableName } from "../store/states.ts";
import { InsertQueue } from "./insert-queue.ts";
import type { InsertedGroup, QueuedRow } from "./insert-queue.ts";
import { lockTable } from "./lock-table.ts";
import type { LockedTable } from "./lock-table.ts";
import type { WriteCause } from "./row-events.ts";
import { deleteOnce, insertOnce, isKeyed, updateOnce } from "./write-once.ts";
import { roomAfter, takeFitting } from "./table-room.ts";
import { toRecords, writeRows } from "./write-rows.ts";
import type { RowChanges, WrittenRows } from "./write-rows.ts";

/**
 * The number of writes of one table that are made at a time, each on a connection. One holds the lock of the
 * table's state, and the next one waits for it in Postgres, so that no time is lost between them.
 */
const TABLE_WRITES_MAX = 2;
/**
 * This wait, together with the wait for a connection, is shorter than callers wait for an answer.
 */
const WAIT_MS = 14_000;

export interface RowWriterOptions {
  connections: CompanyConnections;
  heads: TableHeads;
  rowBytesMax: RowBytesMax;
  /** Called after commits that have put events into the outbox. */
  onEvents: () => void;
}

/**
 * Writes rows. Data must have been checked (`parseRowData`) and ids be UUIDs in lower case. All methods
 * throw NOT_FOUND when the company has no such table.
 *
 * Most writes are a single statement, which locks the table's state, writes and commits in one round
 * trip. The statement does nothing when the table's head is no longer the one known here. Several statements
 * in a transaction follow then, and for tables that tell of changes.
 *
 * Writes of one table wait for each other here, before they have a connection: waiting in the database would
 * hold one for each. Nothing is written for a caller who has gone while the write waited here.
 */
export class RowWriter {
  readonly #connections: CompanyConnections;
  readonly #heads: TableHeads;
  readonly #rowBytesMax: RowBytesMax;
  readonly #onEvents: () => void;
  readonly #turns = new Turns({ perTenant: TABLE_WRITES_MAX });
  readonly #inserts = new InsertQueue((table, takeRows) =>
    this.#inTurn(table, undefined, () => this.#insertGroup(table, takeRows())),
  );

  constructor({ connections, heads, rowBytesMax, onEvents }: RowWriterOptions) {
    this.#connections = connections;
    this.#heads = heads;
    this.#rowBytesMax = rowBytesMax;
    this.#onEvents = onEvents;
  }

  /**
   * Adds a row at the end.
   *
   * @throws AppError BAD_REQUEST when the table is full
   */
  async insert(
    table: TableName,
    data: string,
    cause: WriteCause,
    caller?: Caller,
  ): Promise<RowRecord> {
    if (isKeyed(cause)) {
      return this.#inTurn(table, caller, () =>
        this.#locked(table, (transaction, locked) => insertOnce(transaction, locked, data, cause)),
      );
    }
    return this.#inserts.add(table, { id: newUuid(), data, cause }, caller);
  }

  /**
   * Replaces the data of a row, or lays it over.
   *
   * @throws AppError NOT_FOUND when there is no such row
   */
  update(
    table: TableName,
    update: RowUpdate & { merge: boolean },
    cause: WriteCause,
    caller?: Caller,
  ): Promise<RowRecord> {
    return this.#inTurn(table, caller, () => this.#update(table, update, cause));
  }

  /** @throws AppError NOT_FOUND when there is no such row */
  delete(table: TableName, rowId: string, cause: WriteCause, caller?: Caller): Promise<void> {
    return this.#inTurn(table, caller, () => this.#delete(table, rowId, cause));
  }

  /** Makes several changes, all or nothing; see `writeRows` for what it throws. */
  write(
    table: TableName,
    changes: RowChanges,
    cause: WriteCause,
    caller?: Caller,
  ): Promise<WrittenRows> {
    return this.#inTurn(table, caller, () => this.#write(table, changes, cause));
  }

  async #update(
    table: TableName,
    update: RowUpdate & { merge: boolean },
    cause: WriteCause,
  ): Promise<RowRecord> {
    if (isKeyed(cause)) {
      return this.#locked(table, (transaction, locked) =>
        updateOnce(transaction, locked, update, cause),
      );
    }
    const { merge } = update;
    const bytesMax = this.#rowBytesMax;
    const atOnce = merge
      ? null
      : await this.#atOnce(table, (head, database) =>
          updateRowAtOnce(database, head, { ...update, bytesMax }),
        );
    if (atOnce !== null) return atOnce;
    const { updated } = await this.#writeOne(table, { updates: [update], merge }, cause);
    const [row] = updated;
    if (row === undefined) throw rowNotFound();
    return row;
  }

  async #delete(table: TableName, rowId: string, cause: WriteCause): Promise<void> {
    if (isKeyed(cause)) {
      return this.#locked(table, (transaction, locked) =>
        deleteOnce(transaction, locked, rowId, cause),
      );
    }
    const atOnce = await this.#atOnce(table, (head, database) =>
      deleteRowAtOnce(database, head, rowId),
    );
    if (atOnce === null) await this.#writeOne(table, { deletes: [rowId] }, cause);
  }

  async #write(table: TableName, changes: RowChanges, cause: WriteCause): Promise<WrittenRows> {
    return this.#locked(table, (transaction, locked) =>
      writeRows(transaction, locked, changes, cause),
    );
  }

  /** Changes one row. The error for a missing row need not name it. */
  async #writeOne(table: TableName, changes: RowChanges, cause: WriteCause): Promise<WrittenRows> {
    try {
      return await this.#write(table, changes, cause);
    } catch (error) {
      const isMissing = isAppError(error) && error.reason === "NOT_FOUND";
      throw isMissing && error.details !== undefined ? rowNotFound() : error;
    }
  }

  /** The row that a single statement has changed; null when its result may not be used. */
  async #atOnce(
    table: TableName,
    change: (head: TableHead, database: Queryable) => Promise<ChangeOutcome | null>,
  ): Promise<RowRecord | null> {
    const head = await this.#heads.get(table);
    if (head.rowEvents) return null;
    const outcome = await change(head, this.#connections.of(table.companyId));
    // The table is gone, or has another key in another history.
    if (outcome === null || !isSameHead(outcome, head)) return null;
    // A transaction compares the row's own data.
    if (outcome.row === null && !outcome.mayBeFull) throw rowNotFound();
    return outcome.row;
  }

  async #insertGroup(table: TableName, rows: readonly QueuedRow[]): Promise<InsertedGroup | null> {
    if (rows.length === 0) return null;
    const bytesMax = this.#rowBytesMax;
    const head = await this.#heads.get(table);
    if (!head.rowEvents) {
      const database = this.#connections.of(table.companyId);
      const outcome = await insertRowsAtOnce(database, head, rows, bytesMax);
      if (outcome !== null && isSameHead(outcome, head)) {
        const added = rows.slice(0, outcome.taken);
        const room = roomAfter({ ...outcome, bytesMax }, added);
        return { rows: toRecords(added, outcome), room };
      }
    }
    return this.#insertInTransaction(table, rows);
  }

  async #insertInTransaction(table: TableName, rows: readonly QueuedRow[]): Promise<InsertedGroup> {
    return this.#locked(table, async (transaction, locked) => {
      const room = { ...locked.state, bytesMax: locked.bytesMax };
      const inserts = takeFitting(rows, room);
      const [first] = inserts;
      if (first === undefined) return { rows: [], room };
      const { inserted } = await writeRows(transaction, locked, { inserts }, first.cause);
      return { rows: inserted, room: roomAfter(room, inserts) };
    });
  }

  /** Does work in a transaction while nobody else writes to the table. */
  async #locked<Result>(
    table: TableName,
    write: (transaction: Transaction, locked: LockedTable) => Promise<Result>,
  ): Promise<Result> {
    const { result, hasEvents } = await this.#connections
      .of(table.companyId)
      .transaction(async (transaction) => {
        const bytesMax = this.#rowBytesMax;
        const locked = { ...(await lockTable(transaction, this.#heads, table)), bytesMax };
        return { result: await write(transaction, locked), hasEvents: locked.head.rowEvents };
      });
    if (hasEvents) this.#onEvents();
    return result;
  }

  /** Does work in the caller's turn among the writers of the table. */
  async #inTurn<Result>(
    table: TableName,
    caller: Caller | undefined,
    write: () => Promise<Result>,
  ): Promise<Result> {
    // The company is a part of the key, so that a caller in the name of another one cannot hold this table's
    // writers up.
    const id = `${table.companyId} ${table.tableId}`;
    const end = this.#turns.takeNow(id) ?? (await this.#wait(id, caller));
    try {
      return await write();
    } finally {
      end();
    }
  }

  async #wait(id: string, caller: Caller | undefined): Promise<() => void> {
    try {
      return await this.#turns.take(id, waitSignal(WAIT_MS, caller));
    } catch (cause) {
      caller?.signal.throwIfAborted();
      throw tooManyOfCompany(cause);
    }
  }
}
