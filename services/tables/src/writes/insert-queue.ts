import type { Caller } from "../company-connections.ts";
import type { NewRow } from "../store/rows-insert.ts";
import type { RowRecord } from "../store/rows-record.ts";
import type { TableName } from "../store/states.ts";
import type { WriteCause } from "./row-events.ts";
import { tableIsFull } from "./write-rows.ts";

/** A row that is to be added on its own. */
export interface QueuedRow extends NewRow {
  cause: WriteCause;
}

/** What became of rows that were added together. */
export interface InsertedGroup {
  /** The first ones, as many as the table had room for. */
  rows: readonly RowRecord[];
  maxRows: number;
}

/** Adds rows to a table; it takes them from the line when it is its turn. */
type Insert = (table: TableName, takeRows: () => readonly QueuedRow[]) => Promise<InsertedGroup>;

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
      // Of a caller in the name of another company nothing may be held up or mixed up.
      const id = `${table.companyId} ${table.tableId}`;
      const line = this.#lines.get(id);
      if (line !== undefined) {
        line.push(waiting);
        return;
      }
      this.#lines.set(id, [waiting]);
      // In the next turn, so that requests that were read in this one share a commit.
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
      const { rows: inserted, maxRows } = await this.#insert(table, takeRows);
      for (const [place, { resolve, reject }] of group.entries()) {
        const row = inserted[place];
        if (row === undefined) reject(tableIsFull(maxRows));
        else resolve(row);
      }
    } catch (error) {
      // It may not have come to its turn.
      for (const { reject } of group.length > 0 ? group : takeGroup(line)) reject(error);
    }
  }
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
