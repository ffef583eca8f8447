/**
 * Gathers a body up to a limit. Chunks are copied into one growing buffer rather than kept in a
 * list: a server that sends one byte per chunk would otherwise cost some hundred bytes of memory
 * for each byte that counts against the limit.
 */
export class BodyCollector {
  readonly #bytesMax: number;
  #buffer = Buffer.alloc(0);
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Takes one more chunk; false, and nothing taken, when the limit would be passed. */
  append(chunk: Buffer): boolean {
    const needed = this.#length + chunk.length;
    if (needed > this.#bytesMax) return false;
    if (needed > this.#buffer.length) this.#grow(needed);
    chunk.copy(this.#buffer, this.#length);
    this.#length = needed;
    return true;
  }

  /** Takes as much of a chunk as there is room for. */
  fill(chunk: Buffer): void {
    this.append(chunk.subarray(0, this.#bytesMax - this.#length));
  }

  /** Everything taken so far. */
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
