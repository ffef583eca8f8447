import type { Steps } from "../engine/index.ts";
import type { OnCacheEvent } from "./cache-events.ts";
import { MemoryBudget } from "./memory-budget.ts";
import type { Cached } from "./memory-budget.ts";
import { LOAD_SLICE_MS } from "./slices.ts";
import type { Slices } from "./slices.ts";
import type { SpillFile, Stored } from "./spill-file.ts";

/** The options of a disk. */
export interface SpillDiskOptions {
  readonly file: SpillFile;
  /** The largest size of the file in bytes. */
  readonly bytesMax: number;
  /** The most bytes in memory that wait to be written. */
  readonly pendingBytesMax: number;
  readonly slices: Slices;
  readonly onEvent: OnCacheEvent;
  /** Hears of errors of the file system; callers get what is in the database instead. */
  readonly onFault: (error: unknown) => void;
}

/** The share of the file for entries; the rest is for gaps between them. */
const FILLED_PART = 7 / 8;
/** The least size that an entry counts with, which bounds the number of entries. */
const ENTRY_BYTES_MIN = 64 * 1024;

/**
 * The room on disk and in memory that all spilled values of one thread share. A company with more than its fair
 * part of the disk loses its own entries first.
 */
export class SpillDisk {
  readonly file: SpillFile;
  readonly onEvent: OnCacheEvent;
  readonly #onFault: (error: unknown) => void;
  readonly #budget: MemoryBudget;
  readonly #slices: Slices;
  readonly #pendingBytesMax: number;
  #pendingBytes = 0;

  constructor({ file, bytesMax, pendingBytesMax, slices, onEvent, onFault }: SpillDiskOptions) {
    this.file = file;
    this.onEvent = onEvent;
    this.#onFault = onFault;
    this.#budget = new MemoryBudget(bytesMax * FILLED_PART, () => onEvent("spill evicted"));
    this.#slices = slices;
    this.#pendingBytesMax = pendingBytesMax;
  }

  /** The bytes on disk. */
  get bytes(): number {
    return this.#budget.bytes;
  }

  /**
   * Takes room in memory for a value that waits to be written; null when there is none. The returned function
   * releases it.
   */
  takePending(bytes: number): (() => void) | null {
    if (this.#pendingBytes + bytes > this.#pendingBytesMax) return null;
    this.#pendingBytes += bytes;
    return () => {
      this.#pendingBytes -= bytes;
    };
  }

  /**
   * Does work in slices, in the turns of a company. Null means that the result has become useless.
   * @throws the signal's reason when that is aborted first
   */
  inTurns<Result>(
    companyId: string,
    steps: Steps<Result>,
    { isOfUse, signal }: { isOfUse: () => boolean; signal?: AbortSignal | undefined },
  ): Promise<{ answer: Result } | null> {
    const owner = { companyId, isFrozen: false, sliceMs: LOAD_SLICE_MS, signal };
    return this.#slices.run(owner, steps, isOfUse);
  }

  /**
   * Writes the pieces of an entry; the least recently used entries make room for them. Null means that there is no
   * room.
   * @throws Error of the file system
   */
  write(entry: Cached, pieces: readonly Buffer[]): Promise<Stored | null> {
    this.use(entry, pieces);
    this.#budget.trim(entry.companyId);
    return this.file.write(pieces);
  }

  /** Reports an error of the file system. */
  failed(error: unknown): void {
    this.onEvent("spill failed");
    this.#onFault(error);
  }

  /** Records a use of an entry. */
  use(entry: Cached, pieces: readonly Buffer[]): void {
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    this.#budget.use(entry, Math.max(bytes, ENTRY_BYTES_MIN));
  }

  /** Records that an entry is gone. */
  forget(entry: Cached): void {
    this.#budget.forget(entry);
  }
}
