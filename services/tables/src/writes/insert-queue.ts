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

interface Waiting {
  row: QueuedRow;
  resolve: (row: RowRecord) => void;
  reject: (error: unknown) => void;
}

const GROUP_ROWS_MAX = 500;
const GROUP_CHARS_MAX = 4 * 1024 * 1024;

/**
 * Gathers rows that are to be added to one table while others are being added to it, and then adds
 * them together: they would only wait for each other, and one commit serves them all. A row that comes
 * alone waits for nothing.
 */
export class InsertQueue {
  readonly #insert: (table: TableName, rows: readonly QueuedRow[]) => Promise<InsertedGroup>;
  /** By table; there is an entry as long as rows of it are being added or are about to be. */
  readonly #lines = new Map<string, Waiting[]>();

  constructor(insert: (table: TableName, rows: readonly QueuedRow[]) => Promise<InsertedGroup>) {
    this.#insert = insert;
  }

  /** @throws AppError BAD_REQUEST when the table is full, and what adding the group throws */
  add(table: TableName, row: QueuedRow): Promise<RowRecord> {
    return new Promise((resolve, reject) => {
      const waiting = { row, resolve, reject };
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
    for (;;) {
      const line = this.#lines.get(id) ?? [];
      const group = line.splice(0, groupSize(line));
      if (group.length === 0) break;
      await this.#addGroup(table, group);
    }
    this.#lines.delete(id);
  }

  async #addGroup(table: TableName, group: readonly Waiting[]): Promise<void> {
    try {
      const rows = group.map(({ row }) => row);
      const { rows: inserted, maxRows } = await this.#insert(table, rows);
      for (const [place, { resolve, reject }] of group.entries()) {
        const row = inserted[place];
        if (row === undefined) reject(tableIsFull(maxRows));
        else resolve(row);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}

function groupSize(line: readonly Waiting[]): number {
  let chars = 0;
  const end = line.findIndex(({ row }, place) => {
    chars += row.data.length;
    return place === GROUP_ROWS_MAX || (place > 0 && chars > GROUP_CHARS_MAX);
  });
  return end === -1 ? line.length : end;
}
