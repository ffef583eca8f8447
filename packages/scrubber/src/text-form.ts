import {
  ANCHOR_UNITS,
  beginningsWithAnyBreaks,
  expand,
  expandAll,
  fullPercentAnchors,
  hexAnchors,
  htmlWays,
  jsonWays,
  outerJsonWays,
  percentWays,
  utf16Anchors,
} from "./anchors.ts";
import type { Range, SecretForm } from "./anchors.ts";
import {
  codePointOf,
  decodeForm,
  decodeHex,
  decodePercent,
  decodePlain,
  matchAt,
  NONE,
  readFolded,
  unitsOf,
} from "./decoders.ts";
import type { Decoder } from "./decoders.ts";
import {
  html,
  htmlInJson,
  json,
  jsonInForm,
  jsonInHtml,
  jsonInPercent,
  jsonTwice,
  percentTwice,
  utf16,
  utf16InHex,
  utf16InJson,
  utf16InPercent,
} from "./text-decoders.ts";
import type { SearchBudget } from "./search-budget.ts";

const UTF16_DECODERS: readonly Decoder[] = [utf16, utf16InJson, utf16InPercent, utf16InHex];

const ESCAPING_DECODERS: readonly Decoder[] = [
  decodePercent,
  decodeForm,
  percentTwice,
  jsonInPercent,
  jsonInForm,
  json,
  jsonTwice,
  html,
  htmlInJson,
  jsonInHtml,
];

/** The possible escapings of text that contains such a code unit. Text without any of them is plain. */
const DECODERS_BY_SIGN = new Map<number, readonly Decoder[]>([
  // Another kind of line break ends the match before a sign behind it is seen.
  [0x0d, ESCAPING_DECODERS],
  [0x25, [decodePercent, decodeForm, percentTwice, jsonInPercent, jsonInForm]],
  [0x2b, [decodeForm, jsonInForm]],
  [0x5c, [json, jsonTwice, htmlInJson, jsonInHtml]],
  [0x26, [html, htmlInJson, jsonInHtml]],
]);
const ENDS_IN_SIGN = /[%&\\]$/;
/** The longest escape of one character, except for a number that is escaped twice. */
const UNITS_PER_CHARACTER_MAX = 20;

/**
 * The values in plain form and with every escaping, each with its anchors.
 *
 * @param values line breaks as `\n`
 */
export function* textFormsOf(values: Iterable<string>): Generator<[Iterable<string>, SecretForm]> {
  const hex = new DecodedForms(decodeHex);
  const allPercent = new DecodedForms(decodePercent);
  const inUtf16 = UTF16_DECODERS.map((decode) => new DecodedForms(decode));
  const escaped = new Map<Decoder, DecodedForms>();
  for (const value of values) {
    hex.add(value);
    yield [hexAnchors(value), hex];
    allPercent.add(value);
    yield [fullPercentAnchors(value), allPercent];
    const anchorsInUtf16 = utf16Anchors(value);
    for (const [position, forms] of inUtf16.entries()) {
      forms.add(value);
      yield [anchorsInUtf16[position] ?? [], forms];
    }
    // No encoder escapes letters and digits, so four of them in a row always stay together.
    const run = value.search(/[\dA-Za-z]{4}/);
    const anchorAt = Math.max(run, 0);
    const raw = rawAnchors(value, anchorAt);
    yield [raw, new TextForm(value, anchorAt)];
    if (run >= 0) continue;
    for (const [all, decode] of escapedBeginnings(value)) {
      const forms = escaped.get(decode) ?? new DecodedForms(decode);
      escaped.set(decode, forms);
      forms.add(value);
      yield [[...all].filter((anchor) => !raw.has(anchor)), forms];
    }
  }
}

/**
 * Values in one escaping, by their beginning. Many values may share anchors that are only the beginning
 * of an escape.
 */
class DecodedForms implements SecretForm {
  readonly #decode: Decoder;
  readonly #valuesByBeginning = new Map<string, Set<string>>();

  constructor(decode: Decoder) {
    this.#decode = decode;
  }

  add(value: string): void {
    const beginning = beginningOf(value);
    const values = this.#valuesByBeginning.get(beginning) ?? new Set();
    this.#valuesByBeginning.set(beginning, values.add(value));
  }

  match(text: string, at: number, budget: SearchBudget): Range | null {
    let beginning = "";
    let index = at;
    let longest = -1;
    for (let count = 0; count < ANCHOR_UNITS; count += 1) {
      const read = readFolded(text, index, this.#decode);
      if (read === NONE) break;
      beginning += String.fromCodePoint(codePointOf(read));
      index += unitsOf(read);
      // Four characters of which two are one line break are fewer here.
      longest = Math.max(longest, this.#matchBeginning(beginning, text, at, budget));
    }
    budget.spend(index - at);
    return longest < 0 ? null : { start: at, end: longest };
  }

  /** Where the longest value ends that has this whole beginning and stands in a text; -1: none does. */
  #matchBeginning(beginning: string, text: string, at: number, budget: SearchBudget): number {
    let longest = -1;
    for (const value of this.#valuesByBeginning.get(beginning) ?? []) {
      const end = matchAt(text, at, codePointsOf(value), this.#decode);
      budget.spend(value.length);
      longest = Math.max(longest, end);
    }
    return longest;
  }
}

/** As many characters as an anchor has units. */
function beginningOf(value: string): string {
  return Array.from(value.slice(0, 2 * ANCHOR_UNITS))
    .slice(0, ANCHOR_UNITS)
    .join("");
}

/** A line break may also stand as CR LF or as CR. */
function rawAnchors(value: string, at: number): ReadonlySet<string> {
  return beginningsWithAnyBreaks(value.slice(at, at + ANCHOR_UNITS));
}

/** All ways of escaping at once, from letters and digits within the value. */
class TextForm implements SecretForm {
  readonly #value: string;
  /** Where in the value its anchor is, and what comes before it. */
  readonly #anchorAt: number;
  readonly #before: string;
  #codePoints: { before: Uint32Array; after: Uint32Array } | undefined;

  constructor(value: string, anchorAt: number) {
    this.#value = value;
    this.#anchorAt = anchorAt;
    this.#before = value.slice(0, anchorAt);
  }

  match(text: string, at: number, budget: SearchBudget): Range | null {
    const value = this.#value;
    const anchorAt = this.#anchorAt;
    const agreed = agreement(text, at, value, anchorAt);
    budget.spend(agreed);
    const isWhole = anchorAt + agreed === value.length;
    const start = at - anchorAt;
    // Where the value stands as it is, there is no other form of it, but that its last character may
    // begin an escape of itself.
    const isPlain = isWhole && start >= 0 && text.startsWith(this.#before, start);
    if (isPlain && !ENDS_IN_SIGN.test(value)) {
      return { start, end: at + agreed };
    }
    const signs = signsIn(text, at, at + agreed);
    if (signs.size === 0 && !isWhole) return null;
    const earliest = Math.max(0, at - anchorAt * UNITS_PER_CHARACTER_MAX);
    for (const sign of signsIn(text, earliest, at)) signs.add(sign);
    budget.spend(at - earliest);
    const decoders = [...signs].flatMap((sign) => DECODERS_BY_SIGN.get(sign) ?? []);
    return this.#findLongest(text, at, new Set([decodePlain, ...decoders]), budget);
  }

  #findLongest(
    text: string,
    at: number,
    decoders: ReadonlySet<Decoder>,
    budget: SearchBudget,
  ): Range | null {
    this.#codePoints ??= {
      before: codePointsOf(this.#before),
      after: codePointsOf(this.#value.slice(this.#anchorAt)),
    };
    const { before, after } = this.#codePoints;
    const longest: Range = { start: at, end: -1 };
    for (const decode of decoders) {
      const end = matchAt(text, at, after, decode);
      budget.spend((end < 0 ? ~end : end) - at);
      if (end <= longest.end) continue;
      const start = findStart(text, at, { before, decode, budget });
      if (start === null) continue;
      longest.start = Math.min(start, longest.start);
      longest.end = end;
    }
    return longest.end < 0 ? null : longest;
  }
}

/** The nearest place from which on code points stand in a text that end at an index; or null. */
function findStart(
  text: string,
  at: number,
  { before, decode, budget }: { before: Uint32Array; decode: Decoder; budget: SearchBudget },
): number | null {
  const earliest = Math.max(0, at - before.length * UNITS_PER_CHARACTER_MAX);
  for (let start = at - before.length; start >= earliest; start -= 1) {
    const end = matchAt(text, start, before, decode);
    if (end === at) return start;
    budget.spend((end < 0 ? ~end : end) - start);
    if (budget.isSpent) return null;
  }
  return null;
}

/** How many units a text from one index on and a value from another on have in common. */
function agreement(text: string, at: number, value: string, from: number): number {
  const length = Math.min(value.length - from, text.length - at);
  let count = 0;
  while (count < length && text.charCodeAt(at + count) === value.charCodeAt(from + count)) {
    count += 1;
  }
  return count;
}

/** The signs of escaping in a range, the unit at its end included. */
function signsIn(text: string, start: number, end: number): Set<number> {
  const signs = new Set<number>();
  for (let index = start; index <= end; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit <= 0x5c && DECODERS_BY_SIGN.has(unit)) signs.add(unit);
  }
  return signs;
}

/** What HTML escapes; where there is none of it, HTML is no further layer. */
const HTML_SIGNS = /[&<>"'/`=]/;

/** What a value without four letters or digits in a row may begin with once it is escaped. */
function* escapedBeginnings(value: string): Generator<[ReadonlySet<string>, Decoder]> {
  const beginning = beginningOf(value);
  for (const text of beginningsWithAnyBreaks(beginning)) {
    const inJson = expand(text, jsonWays);
    const inHtml = expand(text, htmlWays);
    const inPercent = expand(text, percentWays);
    const jsonThenPercent = expandAll(inJson, percentWays);
    yield [inPercent, decodePercent];
    yield [inPercent, decodeForm];
    yield [expandAll(inPercent, percentWays), percentTwice];
    yield [inJson, json];
    yield [expandAll(inJson, outerJsonWays), jsonTwice];
    yield [jsonThenPercent, jsonInPercent];
    yield [jsonThenPercent, jsonInForm];
    yield [inHtml, html];
    if (!HTML_SIGNS.test(value)) continue;
    yield [expandAll(inJson, htmlWays), jsonInHtml];
    yield [expandAll(inHtml, outerJsonWays), htmlInJson];
  }
}

/** The code points of a text. */
export function codePointsOf(text: string): Uint32Array {
  const codePoints = new Uint32Array(text.length);
  let count = 0;
  for (const char of text) {
    codePoints[count] = char.codePointAt(0) ?? 0;
    count += 1;
  }
  return codePoints.subarray(0, count);
}
