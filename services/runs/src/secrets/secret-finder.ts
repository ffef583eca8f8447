import { ANCHOR_UNITS, base64Anchors, hexAnchors, textAnchors } from "./anchors.ts";
import { base64FormsOf } from "./base64-form.ts";
import type { Base64Form } from "./base64-form.ts";
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

/** A part of a text; the end is exclusive. */
export interface Range {
  start: number;
  end: number;
}

/** Searches texts for many secrets at once, in all their forms. */
export interface SecretFinder {
  /**
   * Every place of every secret, in the order of their starts; they may overlap. `everywhere` when
   * the search had to be given up, so that the text is to be taken as one big place.
   */
  find(text: string): readonly Range[] | "everywhere";
}

/** One form of a secret: where it ends, if it begins at an index. */
interface Form {
  match(text: string, start: number, budget: Budget): Range | null;
}

/** Comparisons that a search may still make. */
class Budget {
  left: number;

  constructor(textLength: number) {
    this.left = COMPARISONS_MIN + COMPARISONS_PER_UNIT * textLength;
  }
}

/**
 * A search for real secrets makes hardly any: anchors are rare. Texts and secrets that were made to
 * agree again and again at length would take quadratic time; the search is given up before.
 */
const COMPARISONS_PER_UNIT = 8;
const COMPARISONS_MIN = 1_000_000;

/** For each anchor as many entries, so that few others fall on one of them. */
const FILTER_ENTRIES_PER_ANCHOR = 64;
const FILTER_BITS_MIN = 10;
const FILTER_BITS_MAX = 18;
/** Knuth's multiplier, which spreads neighbouring numbers. */
const SPREAD = 0x9e3779b1;

/**
 * Prepares a search.
 *
 * One pass over the text keeps a number made of the last four code units and looks it up, first in a
 * small table of bytes and then in a map of the forms that begin so. Only where one does is the text
 * compared. Its cost hardly depends on how many secrets there are, or how long.
 *
 * @param values each with at least four characters; line breaks as `\n`
 */
export function createSecretFinder(values: Iterable<string>): SecretFinder {
  const formsByAnchor = new Map<number, Form[]>();
  for (const value of values) {
    for (const [anchors, form] of formsOf(value)) {
      for (const anchor of anchors) {
        const hash = hashOf(anchor);
        const forms = formsByAnchor.get(hash);
        if (forms === undefined) formsByAnchor.set(hash, [form]);
        else forms.push(form);
      }
    }
  }
  const bits = Math.ceil(Math.log2(1 + formsByAnchor.size * FILTER_ENTRIES_PER_ANCHOR));
  const shift = 32 - Math.min(Math.max(bits, FILTER_BITS_MIN), FILTER_BITS_MAX);
  const filter = new Uint8Array(1 << (32 - shift));
  for (const hash of formsByAnchor.keys()) filter[Math.imul(hash, SPREAD) >>> shift] = 1;

  return {
    find(text) {
      const found: Range[] = [];
      const budget = new Budget(text.length);
      let hash = 0;
      for (let index = 0; index < text.length; index += 1) {
        hash = pushUnit(hash, text.charCodeAt(index));
        if (filter[Math.imul(hash, SPREAD) >>> shift] === 0) continue;
        const start = index + 1 - ANCHOR_UNITS;
        if (start < 0) continue;
        for (const form of formsByAnchor.get(hash) ?? []) {
          const range = form.match(text, start, budget);
          if (range !== null) found.push(range);
          if (budget.left < 0) return "everywhere";
        }
      }
      return found;
    },
  };
}

/** Four times eight bits: what is pushed has left again after four more. */
function pushUnit(hash: number, unit: number): number {
  return (hash << 8) ^ unit;
}

function hashOf(anchor: string): number {
  let hash = 0;
  for (let index = 0; index < anchor.length; index += 1) {
    hash = pushUnit(hash, anchor.charCodeAt(index));
  }
  return hash;
}

/** All forms of a secret, each with what it may begin with. */
function* formsOf(value: string): Generator<[Iterable<string>, Form]> {
  const codePoints = Uint32Array.from(value, (char) => char.codePointAt(0) ?? 0);
  yield [textAnchors(value), textForm(codePoints)];
  yield [hexAnchors(value), hexForm(codePoints)];
  for (const bytes of byteForms(value)) {
    for (const form of base64FormsOf(bytes)) yield [base64Anchors(form), base64Form(form)];
  }
}

/** What may have been encoded as base64: the value, its other line breaks, or JSON that holds it. */
function byteForms(value: string): Buffer[] {
  const texts = new Set([value, value.replaceAll("\n", "\r\n")]);
  for (const text of [...texts]) texts.add(JSON.stringify(text).slice(1, -1));
  return Array.from(texts, (text) => Buffer.from(text));
}

const json = jsonOver(decodePlain);
const html = htmlOver(decodePlain);

/** How text may be escaped that has such a character in it; without any, all are like plain text. */
const DECODERS_BY_SIGN: readonly (readonly [sign: number, decoders: readonly Decoder[]])[] = [
  [0x25, [decodePercent, decodeForm, jsonOver(decodePercent), jsonOver(decodeForm)]],
  [0x2b, [decodeForm, jsonOver(decodeForm)]],
  [0x5c, [json, jsonOver(json), htmlOver(json)]],
  [0x26, [html, htmlOver(json), jsonOver(html)]],
];

/** The value as it is, and whatever escaping character by character makes of it. */
function textForm(codePoints: Uint32Array): Form {
  return {
    match(text, start, budget) {
      const plain = matchAt(text, start, codePoints, decodePlain);
      const reached = plain < 0 ? ~plain : plain;
      budget.left -= reached - start + 1;
      let end = plain;
      for (const [sign, decoders] of DECODERS_BY_SIGN) {
        if (!hasUnit(text, sign, start, reached)) continue;
        for (const decode of decoders) {
          const other = matchAt(text, start, codePoints, decode);
          budget.left -= (other < 0 ? ~other : other) - start + 1;
          end = Math.max(end, other);
        }
      }
      return end < 0 ? null : { start, end };
    },
  };
}

/** Whether a code unit is in a range, the unit at its end included. */
function hasUnit(text: string, unit: number, start: number, end: number): boolean {
  for (let index = start; index <= end; index += 1) {
    if (text.charCodeAt(index) === unit) return true;
  }
  return false;
}

function hexForm(codePoints: Uint32Array): Form {
  return {
    match(text, start, budget) {
      const end = matchAt(text, start, codePoints, decodeHex);
      budget.left -= (end < 0 ? ~end : end) - start + 1;
      return end < 0 ? null : { start, end };
    },
  };
}

function base64Form(form: Base64Form): Form {
  return {
    match(text, start, budget) {
      const { range, compared } = form.find(text, start);
      budget.left -= compared;
      return range;
    },
  };
}
