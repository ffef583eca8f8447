import { base64CoresOf, readSixBits, sixBitsOf } from "./base64-form.ts";
import { codePointOf, NONE, readFolded, unitsOf } from "./decoders.ts";
import type { Decoder } from "./decoders.ts";
import { SearchBudget } from "./search-budget.ts";
import type { FinderValues } from "./secret-finder.ts";
import { HEX_DECODERS, TEXT_DECODERS } from "./text-decoders.ts";
import { codePointsOf } from "./text-form.ts";

/** Finds the beginning of a secret at the end of a text. */
export interface CutFinder {
  /**
   * The index at which the beginning of a secret stands at the text's end. Null when there is none, or
   * when it begins behind `unitsSeen` units, where nobody will see it. Yields when other work should
   * have its turn.
   */
  findCut(text: string, unitsSeen: number): Generator<undefined, number | null>;
}

/** Fewer characters do not count as a part of a secret, unless they are escaped at this length. */
const PART_CHARS_MIN = 4;
const PART_UNITS_MIN = 8;
/**
 * The length of the longest escape of one character. It may be cut as well, as may a surrogate pair.
 */
const ESCAPE_UNITS_MAX = 20;
const CUT_ESCAPE = /^[%\\&\ud800-\udbff]/;
/** This includes the end of a line, behind which base64 continues. */
const CUT_BASE64 = /^(?:[%\\&]|[\r\n]+$)/;
/** The cut form of a UTF-8 character in hexadecimal. */
const CUT_HEX = /^[\da-f]{1,7}$/i;

/**
 * A hundred secrets have several beginnings for every character of a short text, so the work is bounded.
 */
const BUDGET_UNITS = 1_000_000;
/** The work between two yields. */
const SLICE_UNITS = 128 * 1024;

/** Prepares the search for beginnings of values. */
export function createCutFinder({ everywhere, asText, inBase64 }: FinderValues): CutFinder {
  const texts = byFirst([...everywhere, ...asText].map(codePointsOf));
  // A cut is rare and examined once, so all values are searched in every form.
  const encoded = [...everywhere, ...asText, ...inBase64];
  const cores = byFirst(encoded.flatMap(base64CoresOf).map(sixBitsOf));
  const forms: readonly Form[] = [
    ...TEXT_DECODERS.map((decode) => ({
      read: (text: string, index: number) => readFolded(text, index, decode),
      sequences: texts,
      cutRest: HEX_DECODERS.has(decode) ? CUT_HEX : CUT_ESCAPE,
    })),
    { read: readSixBits, sequences: cores, cutRest: CUT_BASE64 },
  ];
  return { findCut: (text, unitsSeen) => findCut(text, unitsSeen, forms) };
}

/** One form of secrets at the end of a text, by its beginning. */
interface Form {
  read: Decoder;
  sequences: ReadonlyMap<number, readonly Uint32Array[]>;
  /** The remainder of a character that was cut in two. */
  cutRest: RegExp;
}

function byFirst(sequences: readonly Uint32Array[]): ReadonlyMap<number, readonly Uint32Array[]> {
  return Map.groupBy(sequences, ([first = NONE]) => first);
}

function* findCut(
  text: string,
  unitsSeen: number,
  forms: readonly Form[],
): Generator<undefined, number | null> {
  const budget = new SearchBudget(BUDGET_UNITS);
  budget.grant(forms.length * text.length);
  let turnAt = SLICE_UNITS;
  let earliest: number | null = null;
  for (const form of forms) {
    const { read, sequences } = form;
    const end = earliest ?? Math.min(text.length, unitsSeen);
    for (let start = 0; start < end; start += 1) {
      const first = read(text, start);
      const begun = first === NONE ? undefined : sequences.get(codePointOf(first));
      if (begun?.some((sequence) => reachesEnd(text, start, { form, sequence, budget })) === true) {
        earliest = start;
        break;
      }
      // A text can be built to agree with secrets at length, again and again.
      if (budget.isSpent) return 0;
      if (budget.spent < turnAt) continue;
      yield;
      turnAt = budget.spent + SLICE_UNITS;
    }
  }
  return earliest;
}

function reachesEnd(
  text: string,
  start: number,
  { form, sequence, budget }: { form: Form; sequence: Uint32Array; budget: SearchBudget },
): boolean {
  const { read, cutRest } = form;
  let index = start;
  /**
   * The start of the last agreeing character. It may be the first sign of an escape that was cut.
   */
  let last = start;
  let count = 0;
  for (; count < sequence.length && index < text.length; count += 1) {
    const next = read(text, index);
    if (next === NONE || codePointOf(next) !== sequence[count]) break;
    last = index;
    index += unitsOf(next);
  }
  budget.spend(index - start);
  if (count < PART_CHARS_MIN && text.length - start < PART_UNITS_MIN) return false;
  if (index >= text.length) return true;
  return [index, last].some(
    (from) => text.length - from < ESCAPE_UNITS_MAX && cutRest.test(text.slice(from)),
  );
}
