import type { Steps } from "../engine/index.ts";
import type { OnCacheEvent } from "./cache-events.ts";
import { MemoryBudget } from "./memory-budget.ts";
import type { Cached } from "./memory-budget.ts";
import { LOAD_SLICE_MS } from "./slices.ts";
import type { Slices } from "./slices.ts";
import type { SpillFile, Stored } from "./spill-file.ts";

/** What a disk needs. */
export interface SpillDiskOptions {
  readonly file: SpillFile;
  /** How large the file may become, in bytes. */
  readonly bytesMax: number;
  /** What may be in memory until it is written, in bytes. */
  readonly pendingBytesMax: number;
  readonly slices: Slices;
  readonly onEvent: OnCacheEvent;
}

/** The rest of the file is for gaps between entries. */
const FILLED_PART = 7 / 8;
/** Entries are counted as so large at least, so that their number is bounded, too. */
const ENTRY_BYTES_MIN = 64 * 1024;

/**
 * The room on disk and in memory that everything spilled of one thread shares. On disk as in memory a company that
 * has more than its fair part gives its own back first.
 */
export class SpillDisk {
  readonly file: SpillFile;
  readonly onEvent: OnCacheEvent;
  readonly #budget: MemoryBudget;
  readonly #slices: Slices;
  readonly #pendingBytesMax: number;
  #pendingBytes = 0;

  constructor({ file, bytesMax, pendingBytesMax, slices, onEvent }: SpillDiskOptions) {
    this.file = file;
    this.onEvent = onEvent;
    this.#budget = new MemoryBudget(bytesMax * FILLED_PART, () => onEvent("spill evicted"));
    this.#slices = slices;
    this.#pendingBytesMax = pendingBytesMax;
  }

  /** What is on disk, in bytes. */
  get bytes(): number {
    return this.#budget.bytes;
  }

  /** Takes room in memory until something is written; null when there is none. To be released by the result. */
  takePending(bytes: number): (() => void) | null {
    if (this.#pendingBytes + bytes > this.#pendingBytesMax) return null;
    this.#pendingBytes += bytes;
    return () => {
      this.#pendingBytes -= bytes;
    };
  }

  /**
   * Does work in slices, in the turns of a company. Null when it has become useless.
   *
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
   * Writes an entry's pieces; what was used longest ago makes room for them. Null when there is none.
   *
   * @throws Error of the file system
   */
  write(entry: Cached, pieces: readonly Buffer[]): Promise<Stored | null> {
    this.use(entry, pieces);
    this.#budget.trim(entry.companyId);
    return this.file.write(pieces);
  }

  /** Notes that an entry is used. */
  use(entry: Cached, pieces: readonly Buffer[]): void {
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    this.#budget.use(entry, Math.max(bytes, ENTRY_BYTES_MIN));
  }

  /** Notes that an entry is gone. */
  forget(entry: Cached): void {
    this.#budget.forget(entry);
  }
}
