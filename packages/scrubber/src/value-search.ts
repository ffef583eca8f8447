import { SECRET_MASK } from "@workflow/definition";
import { ANCHOR_UNITS } from "./anchors.ts";
import type { Range } from "./anchors.ts";
import { SearchBudget } from "./search-budget.ts";
import { SPENT_UNIT_WORK } from "./secret-finder.ts";
import type { SecretFinder } from "./secret-finder.ts";

/** The work of one slice: some 5 to 10 ms. */
const SLICE_WORK = 512 * 1024;
/** The work of a value in addition to the units of its text. */
const VALUE_WORK = 16;

/** The secrets in the forms that a search needs. */
export interface PreparedSecrets {
  /** Secrets that a whole string may equal. */
  wholes: ReadonlySet<string>;
  numbers: ReadonlySet<number>;
  finder: SecretFinder;
}

/**
 * Removes secrets from one value, at once or in slices. All texts of the value share one budget. When
 * it is spent, the current text and all later strings, keys, lists and objects are masked as a whole.
 * Numbers and booleans are still compared, as are texts that are too short to contain a secret.
 */
export class ValueSearch {
  readonly #secrets: PreparedSecrets;
  readonly #budget = new SearchBudget();
  /** The work since the last yield, and the spent budget at that time. */
  #work = 0;
  #spentBefore = 0;

  constructor(secrets: PreparedSecrets) {
    this.#secrets = secrets;
  }

  text(text: string): string {
    const known = this.#withoutSearch(text);
    if (known !== undefined) return known;
    const search = this.#secrets.finder.begin(text, this.#budget);
    search.advance(Infinity);
    return masked(text, search.found);
  }

  /** The value without secrets; the same object when it contains none. */
  json(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return this.#scalar(value);
    if (this.#budget.isSpent) return SECRET_MASK;
    if (Array.isArray(value)) {
      const items = new CopiedItems(value);
      for (const [index, item] of value.entries()) items.set(index, this.json(item));
      return items.result;
    }
    const entries = Object.entries(value);
    const clean = entries.map(([key, item]): Entry => [this.text(key), this.json(item)]);
    return isSame(entries, clean) ? value : objectOf(clean);
  }

  /** The same as `text`; yields when other work should have its turn. */
  *textInSlices(text: string): Generator<undefined, string> {
    const known = this.#withoutSearch(text);
    if (known !== undefined) return known;
    this.#work += text.length;
    const search = this.#secrets.finder.begin(text, this.#budget);
    while (!search.advance(SLICE_WORK)) {
      yield;
      this.#beginSlice();
    }
    return masked(text, search.found);
  }

  /** The same as `json`; yields when other work should have its turn. */
  *jsonInSlices(value: unknown): Generator<undefined, unknown> {
    this.#work += VALUE_WORK;
    const spent = this.#budget.spent - this.#spentBefore;
    if (this.#work + SPENT_UNIT_WORK * spent >= SLICE_WORK) {
      yield;
      this.#beginSlice();
    }
    if (typeof value === "string") return yield* this.textInSlices(value);
    if (typeof value !== "object" || value === null) return this.#scalar(value);
    if (this.#budget.isSpent) return SECRET_MASK;
    if (Array.isArray(value)) {
      const items = new CopiedItems(value);
      for (const [index, item] of value.entries()) items.set(index, yield* this.jsonInSlices(item));
      return items.result;
    }
    const entries = Object.entries(value);
    const clean: Entry[] = [];
    for (const [key, item] of entries) {
      clean.push([yield* this.textInSlices(key), yield* this.jsonInSlices(item)]);
    }
    return isSame(entries, clean) ? value : objectOf(clean);
  }

  #beginSlice(): void {
    this.#work = 0;
    this.#spentBefore = this.#budget.spent;
  }

  #withoutSearch(text: string): string | undefined {
    if (this.#secrets.wholes.has(text)) return SECRET_MASK;
    if (text.length < ANCHOR_UNITS) return text;
    return this.#budget.isSpent ? SECRET_MASK : undefined;
  }

  #scalar(value: unknown): unknown {
    const { numbers, wholes } = this.#secrets;
    if (typeof value === "number") return numbers.has(value) ? SECRET_MASK : value;
    if (typeof value === "boolean") return wholes.has(String(value)) ? SECRET_MASK : value;
    return value;
  }
}

/** A list that is copied when the first item changes. */
class CopiedItems {
  readonly #items: readonly unknown[];
  #copy: unknown[] | undefined;

  constructor(items: readonly unknown[]) {
    this.#items = items;
  }

  set(index: number, item: unknown): void {
    if (item === this.#items[index]) return;
    this.#copy ??= [...this.#items];
    this.#copy[index] = item;
  }

  get result(): readonly unknown[] {
    return this.#copy ?? this.#items;
  }
}

type Entry = [key: string, value: unknown];

function isSame(entries: readonly Entry[], clean: readonly Entry[]): boolean {
  return entries.every(([key, value], index) => {
    const [cleanKey, cleanValue] = clean[index] ?? [];
    return cleanKey === key && cleanValue === value;
  });
}

function objectOf(entries: readonly Entry[]): object {
  // `fromEntries` keeps a key named __proto__ a plain key.
  return Object.fromEntries(withUniqueKeys(entries));
}

/** Gives keys that were masked alike different names, so that no member gets lost. */
function withUniqueKeys(entries: readonly Entry[]): Entry[] {
  const taken = new Set<string>();
  /** Thousands of keys may be masked alike, so each name's next number is remembered. */
  const counts = new Map<string, number>();
  return entries.map(([key, value]) => {
    let unique = key;
    let count = counts.get(key) ?? 1;
    while (taken.has(unique)) {
      count += 1;
      unique = `${key} ${count}`;
    }
    counts.set(key, count);
    taken.add(unique);
    return [unique, value];
  });
}

/** The text with a mask for each run of overlapping ranges; the same text when there is none. */
function masked(text: string, found: readonly Range[] | "everywhere"): string {
  if (found === "everywhere") return SECRET_MASK;
  if (found.length === 0) return text;
  const ranges = found.toSorted((a, b) => a.start - b.start);
  let result = "";
  let done = 0;
  for (const { start, end } of ranges) {
    if (start >= done) result += text.slice(done, start) + SECRET_MASK;
    done = Math.max(done, end);
  }
  return result + text.slice(done);
}
