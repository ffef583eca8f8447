/** Something that takes up memory and can be had again. */
export interface Cached {
  /** Whether somebody needs it at the moment. */
  readonly inUse: boolean;
  /** Gives the memory back. */
  drop(): void;
}

/**
 * Keeps what was used last within a number of bytes. What is in use stays even when that is too
 * much; it goes as soon as there is something to be done again.
 */
export class MemoryBudget {
  readonly #bytesMax: number;
  readonly #onEvicted: () => void;
  /** From the one that was used longest ago to the one used last. */
  readonly #entries = new Map<Cached, number>();
  #bytes = 0;

  /** @param onEvicted hears of each that is dropped for want of memory */
  constructor(bytesMax: number, onEvicted: () => void) {
    this.#bytesMax = bytesMax;
    this.#onEvicted = onEvicted;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How large something was when that was noted last; 0 when it is not known. */
  bytesOf(entry: Cached): number {
    return this.#entries.get(entry) ?? 0;
  }

  /** Notes that something is used, and how large it is now. */
  use(entry: Cached, bytes: number): void {
    this.forget(entry);
    this.#entries.set(entry, bytes);
    this.#bytes += bytes;
  }

  /** Notes how large something has become, without its being used. */
  resize(entry: Cached, bytes: number): void {
    const before = this.#entries.get(entry);
    if (before === undefined) return;
    this.#entries.set(entry, bytes);
    this.#bytes += bytes - before;
  }

  /** Notes that something has gone. */
  forget(entry: Cached): void {
    this.#bytes -= this.#entries.get(entry) ?? 0;
    this.#entries.delete(entry);
  }

  /** Drops what was used longest ago until the rest fits. */
  trim(): void {
    if (this.#bytes <= this.#bytesMax) return;
    for (const entry of this.#entries.keys()) {
      if (entry.inUse) continue;
      this.forget(entry);
      entry.drop();
      this.#onEvicted();
      if (this.#bytes <= this.#bytesMax) return;
    }
  }
}
