/** So much is searched before others have their turn: some 5 to 10 ms. */
export const SLICE_UNITS = 512 * 1024;
/** What a value costs beside the units of its text. */
const VALUE_UNITS = 16;

/** What takes secrets out of single values. */
interface ValueScrubber {
  text(text: string): string;
  json(value: unknown): unknown;
}

/**
 * Goes through a JSON value as `Scrubber.json` does, and yields whenever a slice of the work is done.
 * Small values, which are nearly all, are handed to that at once.
 */
export class JsonWalk {
  readonly #scrubber: ValueScrubber;
  readonly #scrubLong: (text: string) => Generator<undefined, string>;
  #units = 0;

  constructor(scrubber: ValueScrubber, scrubLong: (text: string) => Generator<undefined, string>) {
    this.#scrubber = scrubber;
    this.#scrubLong = scrubLong;
  }

  /** The value without secrets; the very same when there is none in it. */
  *walk(value: unknown): Generator<undefined, unknown> {
    this.#units += VALUE_UNITS + (typeof value === "string" ? value.length : 0);
    if (this.#units >= SLICE_UNITS) {
      this.#units = 0;
      yield;
    }
    if (typeof value === "string" && value.length > SLICE_UNITS) {
      return yield* this.#scrubLong(value);
    }
    if (typeof value !== "object" || value === null) return this.#scrubber.json(value);
    return Array.isArray(value) ? yield* this.#array(value) : yield* this.#object(value);
  }

  *#array(items: readonly unknown[]): Generator<undefined, unknown> {
    let copy: unknown[] | undefined;
    for (const [index, item] of items.entries()) {
      const clean = yield* this.walk(item);
      if (clean === item) continue;
      copy ??= [...items];
      copy[index] = clean;
    }
    return copy ?? items;
  }

  *#object(object: object): Generator<undefined, unknown> {
    const entries = Object.entries(object);
    let changed = false;
    for (const entry of entries) {
      const [key, value] = entry;
      this.#units += key.length;
      entry[0] = this.#scrubber.text(key);
      entry[1] = yield* this.walk(value);
      changed ||= entry[0] !== key || entry[1] !== value;
    }
    // `fromEntries` keeps a key named __proto__ a plain key.
    return changed ? Object.fromEntries(withUniqueKeys(entries)) : object;
  }
}

/** Two keys that were masked alike stay two. */
export function withUniqueKeys(entries: readonly [string, unknown][]): [string, unknown][] {
  const taken = new Set<string>();
  return entries.map(([key, value]) => {
    let unique = key;
    for (let count = 2; taken.has(unique); count += 1) unique = `${key} ${count}`;
    taken.add(unique);
    return [unique, value];
  });
}
