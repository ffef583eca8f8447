/** The positions of rows in ascending order, by index. */
export class Positions {
  #values: Float64Array<ArrayBuffer>;
  #size = 0;

  constructor(capacity = 16) {
    this.#values = new Float64Array(capacity);
  }

  /** The positions of a table without deletions: 0, 1, 2 … */
  static dense(size: number): Positions {
    const positions = new Positions(Math.max(size, 16));
    for (let position = 0; position < size; position++) positions.push(position);
    return positions;
  }

  /** Takes positions in ascending order. */
  static of(values: readonly number[] | Float64Array): Positions {
    const positions = new Positions(Math.max(values.length, 16));
    for (const value of values) positions.push(value);
    return positions;
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#values.byteLength;
  }

  /** The largest position; -1 when there is none. */
  get last(): number {
    return this.#size === 0 ? -1 : this.at(this.#size - 1);
  }

  at(index: number): number {
    const position = this.#values[index];
    if (position === undefined || index >= this.#size) {
      throw new RangeError(`no row at index ${index} of ${this.#size}`);
    }
    return position;
  }

  /** Adds a position that is larger than all others. */
  push(position: number): void {
    if (position <= this.last) throw new RangeError("positions must be added in their order");
    if (this.#size === this.#values.length) {
      const grown = new Float64Array(this.#size * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#size] = position;
    this.#size += 1;
  }

  /** All positions as plain data; null when each equals its index. */
  saved(): Float64Array<ArrayBuffer> | null {
    return this.last === this.#size - 1 ? null : this.#values.slice(0, this.#size);
  }

  /** The index of a position; -1 when there is none. */
  indexOf(position: number): number {
    // Without a gap before it, a position is its own index: the common case.
    if (this.#values[position] === position && position < this.#size) return position;
    let low = 0;
    let high = this.#size - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.at(middle);
      if (found === position) return middle;
      if (found < position) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** The positions at these indexes, which ascend. */
  kept(indexes: Int32Array): Positions {
    const kept = new Positions(Math.max(indexes.length, 16));
    for (const index of indexes) kept.push(this.at(index));
    return kept;
  }
}
