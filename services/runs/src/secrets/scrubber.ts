import { SECRET_MASK } from "@workflow/definition";
import type { Range } from "./anchors.ts";
import { createSecretFinder } from "./secret-finder.ts";
import type { SecretFinder } from "./secret-finder.ts";

/**
 * Takes secrets out of what a run stores and emits (D19). Looked for is each secret's value and what
 * usual encoders make of it, also in the middle of other text:
 *
 * - percent-encoding in its variants, form encoding, escapes of JSON once and twice, entities of
 *   HTML, and JSON within the first and the last of these;
 * - hexadecimal digits and base64, the latter of either alphabet, at any offset, with or without
 *   padding and line breaks;
 * - with other line breaks, and without the white space around it.
 *
 * A secret of less than four characters is masked only where a whole string or number equals it:
 * anywhere else it would be found in everything.
 */
export interface Scrubber {
  /** The text with `••••` in place of each secret. Of JSON text, use `jsonText`: it stays JSON. */
  text(text: string): string;
  /**
   * A JSON value without secrets in strings, keys, numbers and booleans; the very same value when
   * there is none in it.
   */
  json(value: unknown): unknown;
  /** JSON text without secrets; the same text when there is none in it. */
  jsonText(text: string): string;
}

/** Shorter secrets are looked for as whole values only. */
const SEARCHED_CHARS_MIN = 4;
/** From as many digits on, numbers do not keep them all. */
const EXACT_DIGITS_MAX = 15;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Prepares to take these secrets out; null when there is none. */
export function createScrubber(secrets: Iterable<string>): Scrubber | null {
  const values = new Set<string>();
  for (const secret of secrets) {
    // White space around a secret is easily lost on its way.
    for (const value of [secret, secret.trim()]) if (value !== "") values.add(value);
  }
  if (values.size === 0) return null;
  return new SecretScrubber(values);
}

class SecretScrubber implements Scrubber {
  /** What a whole string may equal. */
  readonly #wholes: ReadonlySet<string>;
  readonly #numbers: ReadonlySet<number>;
  /** Whether there is a secret that JSON text does not show as it shows in values. */
  readonly #needsValues: boolean;
  readonly #finder: SecretFinder;

  constructor(values: ReadonlySet<string>) {
    this.#wholes = values;
    this.#numbers = new Set([...values].filter(isNumberText).map(Number));
    this.#needsValues = [...values].some((value) => isShort(value) || isLongNumber(value));
    const searched = [...values].filter((value) => !isShort(value)).map(withLineFeeds);
    this.#finder = createSecretFinder(new Set(searched));
  }

  text(text: string): string {
    if (this.#wholes.has(text)) return SECRET_MASK;
    const found = this.#finder.find(text);
    if (found === "everywhere") return SECRET_MASK;
    return found.length === 0 ? text : masked(text, found);
  }

  json(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value === "number") return this.#numbers.has(value) ? SECRET_MASK : value;
    if (typeof value === "boolean") return this.#wholes.has(String(value)) ? SECRET_MASK : value;
    if (Array.isArray(value)) return this.#array(value);
    return typeof value === "object" && value !== null ? this.#object(value) : value;
  }

  jsonText(text: string): string {
    if (!this.#needsValues && this.text(text) === text) return text;
    const value: unknown = JSON.parse(text);
    const clean = this.json(value);
    return clean === value ? text : JSON.stringify(clean);
  }

  #array(items: readonly unknown[]): unknown {
    let copy: unknown[] | undefined;
    for (const [index, item] of items.entries()) {
      const clean = this.json(item);
      if (clean === item) continue;
      copy ??= [...items];
      copy[index] = clean;
    }
    return copy ?? items;
  }

  #object(object: object): unknown {
    const entries = Object.entries(object);
    let changed = false;
    for (const entry of entries) {
      const [key, value] = entry;
      entry[0] = this.text(key);
      entry[1] = this.json(value);
      changed ||= entry[0] !== key || entry[1] !== value;
    }
    // `fromEntries` keeps a key named __proto__ a plain key.
    return changed ? Object.fromEntries(withUniqueKeys(entries)) : object;
  }
}

/** Two keys that were masked alike stay two. */
function withUniqueKeys(entries: readonly [string, unknown][]): [string, unknown][] {
  const taken = new Set<string>();
  return entries.map(([key, value]) => {
    let unique = key;
    for (let count = 2; taken.has(unique); count += 1) unique = `${key} ${count}`;
    taken.add(unique);
    return [unique, value];
  });
}

function withLineFeeds(value: string): string {
  return value.includes("\r") ? value.replaceAll(/\r\n?/g, "\n") : value;
}

function isShort(value: string): boolean {
  return Array.from(value.slice(0, 2 * SEARCHED_CHARS_MIN)).length < SEARCHED_CHARS_MIN;
}

/** Whether a number can be this secret: one that was written so, or that had more digits. */
function isNumberText(value: string): boolean {
  return isLongNumber(value) || (JSON_NUMBER.test(value) && String(Number(value)) === value);
}

function isLongNumber(value: string): boolean {
  return value.length > EXACT_DIGITS_MAX && JSON_NUMBER.test(value);
}

/** The text with a mask for each run of overlapping places. */
function masked(text: string, found: readonly Range[]): string {
  const ranges = found.toSorted((a, b) => a.start - b.start);
  let result = "";
  let done = 0;
  for (const { start, end } of ranges) {
    if (start >= done) result += text.slice(done, start) + SECRET_MASK;
    done = Math.max(done, end);
  }
  return result + text.slice(done);
}
