/**
 * Collects a body up to a limit. Chunks are copied into one growing buffer, not kept in a list: with one byte
 * per chunk a list would take some hundred bytes of memory for each counted byte.
 */
export class BodyCollector {
  readonly #bytesMax: number;
  #buffer = Buffer.alloc(0);
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Adds a chunk. False, without adding anything, when the chunk would pass the limit. */
  append(chunk: Buffer): boolean {
    const needed = this.#length + chunk.length;
    if (needed > this.#bytesMax) return false;
    if (needed > this.#buffer.length) this.#grow(needed);
    chunk.copy(this.#buffer, this.#length);
    this.#length = needed;
    return true;
  }

  /** Adds the part of a chunk that the limit allows. */
  fill(chunk: Buffer): void {
    this.append(chunk.subarray(0, this.#bytesMax - this.#length));
  }

  /** The bytes so far. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(needed: number): void {
    const size = Math.min(this.#bytesMax, Math.max(needed, this.#buffer.length * 2));
    const grown = Buffer.allocUnsafe(size);
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}
