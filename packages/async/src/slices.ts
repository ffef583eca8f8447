/** The time for which work may hold the event loop. */
const SLICE_MS = 8;

/**
 * Shares the event loop among many pieces of work that become ready together. When the current slice is
 * used up, pieces wait in line, and each turn of the loop does one. So a thousand pieces of 5 ms never
 * hold the loop for 5 s.
 */
export class Slices {
  readonly #line: (() => void)[] = [];
  #endsAt: number | null = null;

  /** Does synchronous work, at once or when its turn comes. */
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

  /** Continues in the next turn of the loop, after all other events. */
  #next(): void {
    this.#endsAt = null;
    const first = this.#line.shift();
    if (first === undefined) return;
    this.#begin();
    first();
  }
}
