import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError, invalidRequest, isAppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { parseRowData } from "../domain/row-data.ts";
import type { MemoryShare } from "./memory-budget.ts";

/** Rows that are stored by one statement. */
export interface RowBatch {
  count: number;
  /**
   * A JSON array of the rows' data in UTF-8, outside of V8's heap. Its text needs no more escaping.
   */
  json: Buffer;
}

/** The limits of one import. */
export interface ImportLimits {
  maxRows: number;
  /** The most bytes of all rows together, as they are sent. */
  bytesMax: number;
}

/** One statement of a megabyte takes about 40 ms; larger ones are not faster. */
const BATCH_BYTES = 1024 * 1024;
/** The most problems that one answer names. */
const PROBLEMS_MAX = 50;

/**
 * Checks the rows of an import and keeps them, in their order, in the form in which they are stored.
 */
export class RowGatherer {
  readonly #limits: ImportLimits;
  readonly #memory: MemoryShare;
  readonly #violations: Violation[] = [];
  readonly #batches: RowBatch[] = [];
  #pending: string[] = [];
  #pendingBytes = 0;
  #bytes = 0;
  #count = 0;

  constructor(limits: ImportLimits, memory: MemoryShare) {
    this.#limits = limits;
    this.#memory = memory;
  }

  /** The number of rows so far, wrong ones included. */
  get count(): number {
    return this.#count;
  }

  /**
   * Takes more rows, and lets others have a turn meanwhile.
   *
   * @throws AppError BAD_REQUEST when there are more rows than the table may have, or 50 problems;
   * PAYLOAD_TOO_LARGE when they are too long together; UNAVAILABLE when other imports hold the memory
   */
  async add(rows: readonly string[]): Promise<void> {
    const { maxRows } = this.#limits;
    if (this.#count + rows.length > maxRows) throw tooManyRows(maxRows);
    for (const row of rows) {
      this.#addRow(row);
      if (this.#pendingBytes < BATCH_BYTES) continue;
      this.#endBatch();
      await nextTurn();
    }
  }

  /**
   * Returns all rows.
   * @throws AppError BAD_REQUEST with the problems and their rows
   */
  finish(): readonly RowBatch[] {
    this.#throwProblems();
    this.#endBatch();
    return this.#batches;
  }

  #addRow(text: string): void {
    const index = this.#count;
    this.#count += 1;
    const bytes = Buffer.byteLength(text);
    this.#bytes += bytes;
    const { bytesMax } = this.#limits;
    if (this.#bytes > bytesMax) throw tooLarge(bytesMax);
    this.#memory.take(bytes);
    try {
      this.#pending.push(parseRowData(text, ["rows", String(index)]));
      this.#pendingBytes += bytes;
    } catch (error) {
      if (!isAppError(error)) throw error;
      this.#violations.push(...error.violations);
      if (this.#violations.length >= PROBLEMS_MAX) this.#throwProblems();
    }
  }

  #endBatch(): void {
    const { length: count } = this.#pending;
    if (count > 0) {
      this.#batches.push({ count, json: Buffer.from(`[${this.#pending.join(",")}]`) });
    }
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  #throwProblems(): void {
    if (this.#violations.length === 0) return;
    throw invalidRequest(this.#violations.slice(0, PROBLEMS_MAX));
  }
}

function tooManyRows(maxRows: number): AppError {
  const message = `must have at most ${maxRows} items, as maxRows says`;
  return new AppError("BAD_REQUEST", `The table may have at most ${maxRows} rows.`, {
    violations: [{ path: ["rows"], message }],
  });
}

function tooLarge(bytesMax: number): AppError {
  const message = `The rows of an import may have at most ${bytesMax} bytes together.`;
  return new AppError("PAYLOAD_TOO_LARGE", message);
}
