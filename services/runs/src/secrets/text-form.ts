import {
  ANCHOR_UNITS,
  expand,
  expandAll,
  htmlWays,
  jsonWays,
  outerJsonWays,
  percentWays,
} from "./anchors.ts";
import type { Range, SearchBudget, SecretForm } from "./anchors.ts";
import {
  decodeForm,
  decodeHex,
  decodePercent,
  decodePlain,
  htmlOver,
  jsonOver,
  matchAt,
} from "./decoders.ts";
import type { Decoder } from "./decoders.ts";

const json = jsonOver(decodePlain);
const jsonTwice = jsonOver(json);
const jsonInPercent = jsonOver(decodePercent);
const jsonInForm = jsonOver(decodeForm);
const html = htmlOver(decodePlain);
const jsonInHtml = jsonOver(html);
const htmlInJson = htmlOver(json);

/** How text may be escaped that has such a code unit in it; without any, all are like plain text. */
const DECODERS_BY_SIGN = new Map<number, readonly Decoder[]>([
  [0x0d, [decodePlain]],
  [0x25, [decodePercent, decodeForm, jsonInPercent, jsonInForm]],
  [0x2b, [decodeForm, jsonInForm]],
  [0x5c, [json, jsonTwice, htmlInJson]],
  [0x26, [html, htmlInJson, jsonInHtml]],
]);
/** The longest that any of them makes of one character that is not written as a number twice. */
const UNITS_PER_CHARACTER_MAX = 14;

/**
 * The value as it is and whatever escaping character by character makes of it, each with its anchors.
 *
 * @param value line breaks as `\n`
 */
export function* textFormsOf(value: string): Generator<[Iterable<string>, SecretForm]> {
  // No encoder escapes letters and digits, so four of them in a row are always together.
  const anchorAt = value.search(/[\dA-Za-z]{4}/);
  if (anchorAt >= 0) {
    yield [[value.slice(anchorAt, anchorAt + ANCHOR_UNITS)], new TextForm(value, anchorAt)];
  } else {
    yield* formsWithoutRun(value);
  }
  yield [hexAnchors(value), new DecodedForm(value, decodeHex)];
}

/** A form that is looked for from its beginning on, in one way of escaping. */
class DecodedForm implements SecretForm {
  readonly #value: string;
  readonly #decode: Decoder;
  #codePoints: Uint32Array | undefined;

  constructor(value: string, decode: Decoder) {
    this.#value = value;
    this.#decode = decode;
  }

  match(text: string, at: number, budget: SearchBudget): Range | null {
    this.#codePoints ??= codePointsOf(this.#value);
    const end = matchAt(text, at, this.#codePoints, this.#decode);
    budget.spend((end < 0 ? ~end : end) - at);
    return end < 0 ? null : { start: at, end };
  }
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
    // Where the value stands as it is, there is no other form of it.
    if (isWhole && start >= 0 && text.startsWith(this.#before, start)) {
      return { start, end: at + agreed };
    }
    const signs = signsIn(text, at, at + agreed);
    if (signs.size === 0 && !isWhole) return null;
    const earliest = Math.max(0, at - anchorAt * UNITS_PER_CHARACTER_MAX);
    for (const sign of signsIn(text, earliest, at)) signs.add(sign);
    budget.spend(at - earliest);
    const decoders = new Set([...signs].flatMap((sign) => DECODERS_BY_SIGN.get(sign) ?? []));
    return this.#findLongest(text, at, decoders, budget);
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
      const start = findStart(text, at, before, decode, budget);
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
  before: Uint32Array,
  decode: Decoder,
  budget: SearchBudget,
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

/** A value without four letters or digits in a row can only be known by all it may begin with. */
function* formsWithoutRun(value: string): Generator<[Iterable<string>, SecretForm]> {
  const beginning = [...value.slice(0, 2 * ANCHOR_UNITS)].slice(0, ANCHOR_UNITS).join("");
  // A line break may also stand as CR LF.
  for (const text of new Set([beginning, beginning.replaceAll("\n", "\r\n")])) {
    const inJson = expand(text, jsonWays);
    const inHtml = expand(text, htmlWays);
    const anchorsAndDecoders: [ReadonlySet<string>, Decoder[]][] = [
      [expand(text, (char) => [char]), [decodePlain]],
      [expand(text, percentWays), [decodePercent, decodeForm]],
      [inJson, [json]],
      [expandAll(inJson, outerJsonWays), [jsonTwice]],
      [expandAll(inJson, percentWays), [jsonInPercent, jsonInForm]],
      [expandAll(inJson, htmlWays), [htmlInJson]],
      [inHtml, [html]],
      [expandAll(inHtml, outerJsonWays), [jsonInHtml]],
    ];
    for (const [anchors, decoders] of anchorsAndDecoders) {
      for (const decode of decoders) yield [anchors, new DecodedForm(value, decode)];
    }
  }
}

/** The beginnings of the hexadecimal form. */
function hexAnchors(value: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const beginning = value.slice(0, ANCHOR_UNITS);
  for (const text of [beginning, beginning.replaceAll("\n", "\r\n")]) {
    const hex = Buffer.from(text).toString("hex").slice(0, ANCHOR_UNITS);
    anchors.add(hex).add(hex.toUpperCase());
  }
  return anchors;
}

function codePointsOf(text: string): Uint32Array {
  const codePoints = new Uint32Array(text.length);
  let count = 0;
  for (const char of text) {
    codePoints[count] = char.codePointAt(0) ?? 0;
    count += 1;
  }
  return codePoints.subarray(0, count);
}
