/** A part of a file, in bytes. */
export interface Extent {
  readonly offset: number;
  readonly length: number;
}

/** Extents begin at multiples of a disk's page size. */
const PAGE_BYTES = 4_096;

/**
 * Keeps track of the free parts of a file. It takes the first one that is large enough, and joins free neighbours.
 */
export class Extents {
  readonly #bytesMax: number;
  /** The free parts by offset. No two of them touch each other, and none touches the end. */
  readonly #free: Extent[] = [];
  #end = 0;

  /** @param bytesMax the largest size of the file */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Takes room for this number of bytes; null when no free part is large enough. */
  take(bytes: number): Extent | null {
    const length = Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;
    const place = this.#free.findIndex((each) => each.length >= length);
    const found = this.#free[place];
    if (found !== undefined) {
      const rest = { offset: found.offset + length, length: found.length - length };
      this.#free.splice(place, 1, ...(rest.length > 0 ? [rest] : []));
      return { offset: found.offset, length };
    }
    if (this.#end + length > this.#bytesMax) return null;
    const offset = this.#end;
    this.#end += length;
    return { offset, length };
  }

  /** Gives a taken extent back. */
  give({ offset, length }: Extent): void {
    let place = this.#free.findIndex((each) => each.offset > offset);
    if (place === -1) place = this.#free.length;
    const before = this.#free[place - 1];
    const after = this.#free[place];
    const joinsBefore = before !== undefined && before.offset + before.length === offset;
    const joinsAfter = after !== undefined && offset + length === after.offset;
    const from = joinsBefore ? before.offset : offset;
    const to = joinsAfter ? after.offset + after.length : offset + length;
    const taken = Number(joinsBefore) + Number(joinsAfter);
    const start = joinsBefore ? place - 1 : place;
    if (to === this.#end) {
      this.#end = from;
      this.#free.splice(start, taken);
    } else {
      this.#free.splice(start, taken, { offset: from, length: to - from });
    }
  }
}
