/** Moments of a source that was not named for a window's length have left all windows: one more for rounding. */
const MARGIN_MS = 1_000;

/**
 * Gateways by the small numbers that windows know them by. Who was not named for longer than a window is forgotten,
 * for nothing of it counts any more; its number goes to the next.
 */
export class Sources {
  readonly #keepMs: number;
  readonly #self: string;
  readonly #numbers = new Map<string, { number: number; namedAt: number }>();
  readonly #names: (string | undefined)[];
  readonly #free: number[] = [];

  /** @param self is number 0, for ever */
  constructor(self: string, windowMs: number) {
    this.#keepMs = windowMs + MARGIN_MS;
    this.#self = self;
    this.#names = [self];
  }

  /** How many numbers were ever in use at once. */
  get size(): number {
    return this.#names.length;
  }

  /** The number of a gateway of which something is counted now. */
  numberOf(name: string, now: number): number {
    if (name === this.#self) return 0;
    const known = this.#numbers.get(name);
    if (known !== undefined) {
      known.namedAt = now;
      return known.number;
    }
    this.#forget(now);
    const number = this.#free.pop() ?? this.#names.length;
    this.#names[number] = name;
    this.#numbers.set(name, { number, namedAt: now });
    return number;
  }

  nameOf(number: number): string | undefined {
    return this.#names[number];
  }

  #forget(now: number): void {
    for (const [name, { number, namedAt }] of this.#numbers) {
      if (now - namedAt <= this.#keepMs) continue;
      this.#numbers.delete(name);
      this.#names[number] = undefined;
      this.#free.push(number);
    }
  }
}
