/**
 * A source that was not named for a window's length has left all windows. The margin covers rounding.
 */
const MARGIN_MS = 1_000;

/**
 * Small numbers for gateways, used in windows. A gateway that was not named for longer than a window is forgotten,
 * because nothing of it counts any more. Its number is given to the next one.
 */
export class Sources {
  readonly #keepMs: number;
  readonly #self: string;
  readonly #numbers = new Map<string, { number: number; namedAt: number }>();
  readonly #names: (string | undefined)[];
  readonly #free: number[] = [];

  /** @param self the gateway that keeps number 0 */
  constructor(self: string, windowMs: number) {
    this.#keepMs = windowMs + MARGIN_MS;
    this.#self = self;
    this.#names = [self];
  }

  /** The highest number of sources that were in use at once. */
  get size(): number {
    return this.#names.length;
  }

  /** The number of a gateway for which something is counted now. */
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
