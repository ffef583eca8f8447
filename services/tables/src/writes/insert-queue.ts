import type { Caller } from "../company-connections.ts";
import type { NewRow } from "../store/rows-insert.ts";
import type { RowRecord } from "../store/rows-record.ts";
import type { TableName } from "../store/states.ts";
import type { WriteCause } from "./row-events.ts";
import { refusalOf } from "./table-room.ts";
import type { TableRoom } from "./table-room.ts";

/** A single row to add. */
export interface QueuedRow extends NewRow {
  cause: WriteCause;
}

/** The result of adding rows together. */
export interface InsertedGroup {
  /** The first rows, as many as the table had room for. */
  rows: readonly RowRecord[];
  /** The room that is left. */
  room: TableRoom;
}

/**
 * Adds rows to a table. The rows are taken from the line when the write's turn comes. Null means that there were
 * none.
 */
type Insert = (
  table: TableName,
  takeRows: () => readonly QueuedRow[],
) => Promise<InsertedGroup | null>;

interface Waiting {
  row: QueuedRow;
  caller: Caller | undefined;
  resolve: (row: RowRecord) => void;
  reject: (error: unknown) => void;
}

const GROUP_ROWS_MAX = 500;
const GROUP_CHARS_MAX = 4 * 1024 * 1024;

/**
 * Gathers rows for one table while others are being added, and then adds them with one commit. They would only wait
 * for each other otherwise. A row that comes alone waits for nothing. Rows of callers who have left are left out.
 */
export class InsertQueue {
  readonly #insert: Insert;
  /**
   * The lines by table. An entry exists while rows of its table are being added, or are about to be.
   */
  readonly #lines = new Map<string, Waiting[]>();

  constructor(insert: Insert) {
    this.#insert = insert;
  }

  /**
   * Adds a row.
   * @throws AppError BAD_REQUEST when the table is full, and the errors of adding the group
   */
  add(table: TableName, row: QueuedRow, caller?: Caller): Promise<RowRecord> {
    return new Promise((resolve, reject) => {
      const waiting = { row, caller, resolve, reject };
      // The company is a part of the key, so that a caller in the name of another one cannot hold this line up or
      // join it.
      const id = `${table.companyId} ${table.tableId}`;
      const line = this.#lines.get(id);
      if (line !== undefined) {
        line.push(waiting);
        return;
      }
      this.#lines.set(id, [waiting]);
      // The group begins in the next turn of the event loop, so that requests of this turn share a commit.
      setImmediate(() => void this.#serve(table, id));
    });
  }

  async #serve(table: TableName, id: string): Promise<void> {
    const line = this.#lines.get(id) ?? [];
    while (line.length > 0) await this.#addGroup(table, line);
    this.#lines.delete(id);
  }

  async #addGroup(table: TableName, line: Waiting[]): Promise<void> {
    const group: Waiting[] = [];
    const takeRows = (): readonly QueuedRow[] => {
      group.push(...takeGroup(line));
      return group.map(({ row }) => row);
    };
    try {
      const outcome = await this.#insert(table, takeRows);
      if (outcome !== null) line.unshift(...settle(group, outcome));
    } catch (error) {
      // Some rows may not have had their turn.
      for (const { reject } of group.length > 0 ? group : takeGroup(line)) reject(error);
    }
  }
}

/**
 * Answers the callers of a group. Returns the rows that stood behind a row without room and have room themselves.
 */
function settle(group: readonly Waiting[], { rows, room }: InsertedGroup): readonly Waiting[] {
  return group.filter(({ row, resolve, reject }, place) => {
    const inserted = rows[place];
    const refusal = inserted === undefined ? refusalOf(room, row) : null;
    if (inserted !== undefined) resolve(inserted);
    if (refusal !== null) reject(refusal);
    return inserted === undefined && refusal === null;
  });
}

/** The next rows of a line, without those whose callers have gone. */
function takeGroup(line: Waiting[]): readonly Waiting[] {
  const group = line.splice(0, groupSize(line));
  return group.filter(({ caller, reject }) => {
    if (caller?.signal.aborted !== true) return true;
    reject(caller.signal.reason);
    return false;
  });
}

function groupSize(line: readonly Waiting[]): number {
  let chars = 0;
  const end = line.findIndex(({ row }, place) => {
    chars += row.data.length;
    return place === GROUP_ROWS_MAX || (place > 0 && chars > GROUP_CHARS_MAX);
  });
  return end === -1 ? line.length : end;
}
