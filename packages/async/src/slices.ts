/** Work may hold the event loop for this long before others get it. */
const SLICE_MS = 8;

/**
 * Shares one event loop among many pieces of work that become ready together. When the present slice is
 * used up, pieces wait in line, and each turn of the loop does one. A thousand pieces of 5 ms never
 * hold it for 5 s.
 */
export class Slices {
  readonly #line: (() => void)[] = [];
  #endsAt: number | null = null;

  /** Does the work, which must be synchronous, at once or when its turn has come. */
  async do<T>(work: () => T): Promise<T> {
    if (this.#mustWait()) await new Promise<void>((resolve) => this.#line.push(resolve));
    return work();
  }

  #mustWait(): boolean {
    if (this.#endsAt === null) this.#begin();
    return this.#line.length > 0 || performance.now() > (this.#endsAt ?? 0);
  }

  #begin(): void {
    this.#endsAt = performance.now() + SLICE_MS;
    setImmediate(() => this.#next());
  }

  /** Goes on in the loop's next turn, after everybody else's events. */
  #next(): void {
    this.#endsAt = null;
    const first = this.#line.shift();
    if (first === undefined) return;
    this.#begin();
    first();
  }
}
