import { setImmediate as nextTurn } from "node:timers/promises";
import { SECRET_MASK } from "@workflow/definition";
import { createCutFinder } from "./cut-finder.ts";
import type { CutFinder } from "./cut-finder.ts";
import { createSecretFinder } from "./secret-finder.ts";
import type { FinderValues } from "./secret-finder.ts";
import { ValueSearch } from "./value-search.ts";
import type { PreparedSecrets } from "./value-search.ts";

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
 *
 * Each call may compare so much in all, in proportion to the text that it is given, however many strings
 * that is. Where texts and secrets are made to agree again and again, what is left then is masked as a whole:
 * nothing that was not searched comes out.
 */
export interface Scrubber {
  /** The text with `••••` in place of each secret. Of JSON text, use `jsonText`: it stays JSON. */
  text(text: string): string;
  /**
   * A JSON value without secrets in strings, keys, numbers and booleans; the very same value when
   * there is none in it.
   */
  json(value: unknown): unknown;
  /** As `text`, in slices of work between which others have their turn. */
  textInTurns(text: string): Promise<string>;
  /** As `json`, in slices of work between which others have their turn. */
  jsonInTurns(value: unknown): Promise<unknown>;
  /** JSON text without secrets; the same text when there is none in it. */
  jsonText(text: string): string;
  /**
   * As `text`, for a text whose end may be missing: also without four and more characters at its end
   * that are the beginning of a secret, in any form.
   *
   * @param unitsSeen how much of the result will be seen: what is far behind is left out unsearched
   */
  cutText(text: string, unitsSeen: number): string;
  /** As `cutText`, in slices of work between which others have their turn. */
  cutTextInTurns(text: string, unitsSeen: number): Promise<string>;
}

/** Behind what is seen: enough of a secret that begins there to be known for one. */
const UNITS_BEHIND = 1_024;

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
  readonly #secrets: PreparedSecrets;
  /** Whether there is a secret that JSON text does not show as it shows in values. */
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
      // What was encoded had the line breaks that it had.
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
