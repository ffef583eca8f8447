import { setImmediate as nextTurn } from "node:timers/promises";
import { SECRET_MASK } from "@workflow/definition";
import { createCutFinder } from "./cut-finder.ts";
import type { CutFinder } from "./cut-finder.ts";
import { createSecretFinder } from "./secret-finder.ts";
import type { FinderValues } from "./secret-finder.ts";
import { ValueSearch } from "./value-search.ts";
import type { PreparedSecrets } from "./value-search.ts";

/**
 * Removes secrets from the texts and values that a run stores and emits (D19). It finds each
 * secret's value and its usual encodings, even within other text:
 * - percent-encoding in its variants (also twice) and form encoding, JSON escapes once and twice,
 *   HTML entities, and JSON within any of these;
 * - hexadecimal digits and base64, the latter of either alphabet, at any offset, with or without
 *   padding and line breaks, once and twice;
 * - UTF-16 as text with NUL in between, and in base64 and hexadecimal digits;
 * - with other line breaks, and without the white space around the value;
 * - all of it in upper or in lower case, for values of eight characters or more.
 *
 * A secret of less than four characters is masked only when a whole string or number equals it;
 * otherwise it would match almost everywhere. The comparisons of each call are limited, in
 * proportion to the text and not to the number of strings. When texts and secrets are made to agree
 * again and again, the unsearched rest is masked as a whole, so nothing unsearched is shown.
 */
export interface Scrubber {
  /** The text with `••••` instead of each secret. Use `jsonText` for JSON text, which stays JSON. */
  text(text: string): string;
  /**
   * A JSON value without secrets in strings, keys, numbers and booleans; the same object when it
   * contains none.
   */
  json(value: unknown): unknown;
  /** The same as `text`, in slices between which other work runs. */
  textInTurns(text: string): Promise<string>;
  /** The same as `json`, in slices between which other work runs. */
  jsonInTurns(value: unknown): Promise<unknown>;
  /** JSON text without secrets; the same text when it contains none. */
  jsonText(text: string): string;
  /**
   * The same as `text`, for a text that may be cut. It also removes the last four or more characters
   * when they are the beginning of a secret in any form.
   *
   * @param unitsSeen the part of the result that will be seen; text far behind it is omitted without a
   * search
   */
  cutText(text: string, unitsSeen: number): string;
  /** The same as `cutText`, in slices between which other work runs. */
  cutTextInTurns(text: string, unitsSeen: number): Promise<string>;
}

/** The units behind the seen part that are searched, enough to recognize a secret that begins within it. */
const UNITS_BEHIND = 1_024;

/** Shorter secrets are searched for as whole values only. */
const SEARCHED_CHARS_MIN = 4;
/** Shorter secrets are too likely to equal a word in another case. */
const CASELESS_CHARS_MIN = 8;
/** A number with more digits does not keep all of them. */
const EXACT_DIGITS_MAX = 15;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Creates a scrubber for these secrets; null without any. */
export function createScrubber(secrets: Iterable<string>): Scrubber | null {
  const values = new Set<string>();
  for (const secret of secrets) {
    // White space around a secret is often lost.
    for (const value of [secret, secret.trim()]) if (value !== "") values.add(value);
  }
  if (values.size === 0) return null;
  return new SecretScrubber(values);
}

class SecretScrubber implements Scrubber {
  readonly #secrets: PreparedSecrets;
  /** Whether JSON text shows a secret differently than values do. */
  readonly #needsValues: boolean;
  readonly #values: FinderValues;
  #cutFinder: CutFinder | undefined;

  constructor(values: ReadonlySet<string>) {
    this.#needsValues = [...values].some((value) => isShort(value) || isLongNumber(value));
    const long = [...values].filter((value) => !isShort(value));
    const asText = new Set(long.map(withLineFeeds));
    this.#values = {
      everywhere: [...asText],
      asText: [...asText].flatMap(otherCases),
      // An encoded value keeps its original line breaks.
      inBase64: long.filter((value) => !asText.has(value)),
    };
    this.#secrets = {
      wholes: values,
      numbers: new Set([...values].filter(isNumberText).map(Number)),
      finder: createSecretFinder(this.#values),
    };
  }

  text(text: string): string {
    return this.#begin().text(text);
  }

  json(value: unknown): unknown {
    return this.#begin().json(value);
  }

  textInTurns(text: string): Promise<string> {
    return inTurns(this.#begin().textInSlices(text));
  }

  jsonInTurns(value: unknown): Promise<unknown> {
    return inTurns(this.#begin().jsonInSlices(value));
  }

  jsonText(text: string): string {
    if (!this.#needsValues && this.text(text) === text) return text;
    const value: unknown = JSON.parse(text);
    const clean = this.json(value);
    return clean === value ? text : JSON.stringify(clean);
  }

  cutText(text: string, unitsSeen: number): string {
    return atOnce(this.#cutTextInSlices(text, unitsSeen));
  }

  cutTextInTurns(text: string, unitsSeen: number): Promise<string> {
    return inTurns(this.#cutTextInSlices(text, unitsSeen));
  }

  *#cutTextInSlices(text: string, unitsSeen: number): Generator<undefined, string> {
    const window = text.slice(0, unitsSeen + UNITS_BEHIND);
    const clean = yield* this.#begin().textInSlices(window);
    this.#cutFinder ??= createCutFinder(this.#values);
    const end = yield* this.#cutFinder.findCut(clean, unitsSeen);
    return end === null ? clean : clean.slice(0, end) + SECRET_MASK;
  }

  #begin(): ValueSearch {
    return new ValueSearch(this.#secrets);
  }
}

function atOnce<Result>(work: Generator<undefined, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

async function inTurns<Result>(work: Generator<undefined, Result>): Promise<Result> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

function withLineFeeds(value: string): string {
  return value.includes("\r") ? value.replaceAll(/\r\n?/g, "\n") : value;
}

/** The value in upper and in lower case, as headers, hosts and forms write it. */
function otherCases(value: string): string[] {
  if (value.length < CASELESS_CHARS_MIN) return [];
  return [value.toLowerCase(), value.toUpperCase()].filter((other) => other !== value);
}

function isShort(value: string): boolean {
  return Array.from(value.slice(0, 2 * SEARCHED_CHARS_MIN)).length < SEARCHED_CHARS_MIN;
}

/**
 * Whether a number can be this secret: a number in its usual form, or one with more digits than a
 * double keeps.
 */
function isNumberText(value: string): boolean {
  return isLongNumber(value) || (JSON_NUMBER.test(value) && String(Number(value)) === value);
}

function isLongNumber(value: string): boolean {
  return value.length > EXACT_DIGITS_MAX && JSON_NUMBER.test(value);
}
