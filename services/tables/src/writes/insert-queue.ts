import type { Caller } from "../company-connections.ts";
import type { NewRow } from "../store/rows-insert.ts";
import type { RowRecord } from "../store/rows-record.ts";
import type { TableName } from "../store/states.ts";
import type { WriteCause } from "./row-events.ts";
import { refusalOf } from "./table-room.ts";
import type { TableRoom } from "./table-room.ts";

/** A row that is to be added on its own. */
export interface QueuedRow extends NewRow {
  cause: WriteCause;
}

/** What has become of rows that were added together. */
export interface InsertedGroup {
  /** The first ones, as many as the table had room for. */
  rows: readonly RowRecord[];
  /** What is left. */
  room: TableRoom;
}

/** Adds rows to a table; it takes them from the line when it is its turn. Null when there were none. */
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
 * Gathers rows that are to be added to one table while others are being added to it, and then adds
 * them together: they would only wait for each other, and one commit serves them all. A row that comes
 * alone waits for nothing. Rows of callers who have gone are left out.
 */
export class InsertQueue {
  readonly #insert: Insert;
  /** By table; there is an entry as long as rows of it are being added or are about to be. */
  readonly #lines = new Map<string, Waiting[]>();

  constructor(insert: Insert) {
    this.#insert = insert;
  }

  /** @throws AppError BAD_REQUEST when the table is full, and what adding the group throws */
  add(table: TableName, row: QueuedRow, caller?: Caller): Promise<RowRecord> {
    return new Promise((resolve, reject) => {
      const waiting = { row, caller, resolve, reject };
      // A caller in the name of another company must neither hold this line up nor join it.
      const id = `${table.companyId} ${table.tableId}`;
      const line = this.#lines.get(id);
      if (line !== undefined) {
        line.push(waiting);
        return;
      }
      this.#lines.set(id, [waiting]);
      // The group begins in the next turn, so that requests read in this one share a commit.
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
      // A row may not have come to its turn.
      for (const { reject } of group.length > 0 ? group : takeGroup(line)) reject(error);
    }
  }
}

/**
 * Tells the callers of a group what became of their rows, and returns those that stood behind a row for which
 * there was no room and have room themselves.
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
