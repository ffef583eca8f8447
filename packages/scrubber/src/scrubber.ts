import { setImmediate as nextTurn } from "node:timers/promises";
import { SECRET_MASK } from "@workflow/definition";
import type { Range } from "./anchors.ts";
import { createCutFinder } from "./cut-finder.ts";
import type { CutFinder } from "./cut-finder.ts";
import { JsonWalk, SLICE_UNITS, withUniqueKeys } from "./json-walk.ts";
import { createSecretFinder } from "./secret-finder.ts";
import type { FinderValues, SecretFinder } from "./secret-finder.ts";

/**
 * Takes secrets out of what a run stores and emits (D19). Looked for is each secret's value and what
 * usual encoders make of it, also in the middle of other text:
 *
 * - percent-encoding in its variants and form encoding, the former also twice; escapes of JSON once
 *   and twice; entities of HTML; and JSON within any of these;
 * - hexadecimal digits and base64, the latter of either alphabet, at any offset, with or without
 *   padding and line breaks, once and twice;
 * - UTF-16 as text with NUL in between, and in base64 and hexadecimal digits;
 * - with other line breaks, and without the white space around it;
 * - all of it in upper or in lower case, from eight characters on.
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
  /** As `json`; large values are searched in slices, between which others have their turn. */
  jsonInTurns(value: unknown): Promise<unknown>;
  /** JSON text without secrets; the same text when there is none in it. */
  jsonText(text: string): string;
  /**
   * As `text`, for a text whose end may be missing: also without four and more characters at its end
   * that are the beginning of a secret, in any form.
   *
   * @param unitsSeen how much of the result will be seen: what begins behind is left as it is
   */
  cutText(text: string, unitsSeen: number): string;
}

/** Shorter secrets are looked for as whole values only. */
const SEARCHED_CHARS_MIN = 4;
/** Shorter ones are too likely to be words in another case. */
const CASELESS_CHARS_MIN = 8;
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
  readonly #values: FinderValues;
  #cutFinder: CutFinder | undefined;

  constructor(values: ReadonlySet<string>) {
    this.#wholes = values;
    this.#numbers = new Set([...values].filter(isNumberText).map(Number));
    this.#needsValues = [...values].some((value) => isShort(value) || isLongNumber(value));
    const long = [...values].filter((value) => !isShort(value));
    const asText = new Set(long.map(withLineFeeds));
    this.#values = {
      everywhere: [...asText],
      asText: [...asText].flatMap(otherCases),
      // What was encoded had the line breaks that it had.
      inBase64: long.filter((value) => !asText.has(value)),
    };
    this.#finder = createSecretFinder(this.#values);
  }

  text(text: string): string {
    return this.#wholes.has(text) ? SECRET_MASK : masked(text, this.#finder.find(text));
  }

  json(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value === "number") return this.#numbers.has(value) ? SECRET_MASK : value;
    if (typeof value === "boolean") return this.#wholes.has(String(value)) ? SECRET_MASK : value;
    if (Array.isArray(value)) return this.#array(value);
    return typeof value === "object" && value !== null ? this.#object(value) : value;
  }

  async jsonInTurns(value: unknown): Promise<unknown> {
    const walk = new JsonWalk(this, (text) => this.#textInSlices(text)).walk(value);
    for (;;) {
      const step = walk.next();
      if (step.done === true) return step.value;
      await nextTurn();
    }
  }

  *#textInSlices(text: string): Generator<undefined, string> {
    if (this.#wholes.has(text)) return SECRET_MASK;
    const search = this.#finder.begin(text);
    while (!search.advance(SLICE_UNITS)) yield;
    return masked(text, search.found);
  }

  jsonText(text: string): string {
    if (!this.#needsValues && this.text(text) === text) return text;
    const value: unknown = JSON.parse(text);
    const clean = this.json(value);
    return clean === value ? text : JSON.stringify(clean);
  }

  cutText(text: string, unitsSeen: number): string {
    const clean = this.text(text);
    this.#cutFinder ??= createCutFinder(this.#values);
    const end = this.#cutFinder.findCut(clean, unitsSeen);
    return end === null ? clean : clean.slice(0, end) + SECRET_MASK;
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

function withLineFeeds(value: string): string {
  return value.includes("\r") ? value.replaceAll(/\r\n?/g, "\n") : value;
}

/** In upper and in lower case, as headers, hosts and forms make it. */
function otherCases(value: string): string[] {
  if (value.length < CASELESS_CHARS_MIN) return [];
  return [value.toLowerCase(), value.toUpperCase()].filter((other) => other !== value);
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

/** The text with a mask for each run of overlapping places; the same text when there is none. */
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
