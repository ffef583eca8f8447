import { compareTexts, latinAlphabet, wideAlphabet, windowKey } from "./collation.ts";
import type { Alphabet } from "./collation.ts";
import { sortByKey } from "./radix-sort.ts";
import type { Steps } from "./steps.ts";

/** Up to this number, comparing texts is faster than keying them. */
const FEW = 4;
/** The texts that one step examines or compares. */
const LOOKED_AT = 2_048;
const COMPARED = 512;
/**
 * When a larger part than this has letters outside the alphabet, the wide alphabet keys the whole range.
 */
const FOREIGN_PART_MAX = 1 / 16;

/**
 * Sorts ascending indexes of texts in place, in the order of `compareTexts`, with equal texts by index. A few
 * characters at a time become one number, and a radix sort orders the numbers. Texts with equal numbers are sorted
 * by what follows. Only the last few, and texts without numbers, are compared. 100,000 texts take 40 to 90 ms, and
 * 350 with the collator alone. Scripts with many marks (Hindi) and texts of emoji gain nothing.
 */
export function* sortTexts(texts: readonly string[], items: Int32Array): Steps {
  const keyTexts = yield* withPairs(texts, items);
  yield* sortFrom({ texts, keyTexts, untilStep: LOOKED_AT }, items, 0);
}

interface Texts {
  /** The texts that are compared. */
  readonly texts: readonly string[];
  /**
   * The texts from which keys are made. They differ from the others only in characters that weigh as much as two.
   */
  readonly keyTexts: readonly string[];
  /** The number of texts that may be examined before the step ends. */
  untilStep: number;
}

/** The texts with ss for ß and the like. No key tells the difference. */
function* withPairs(texts: readonly string[], items: Int32Array): Steps<readonly string[]> {
  const { pairs } = latinAlphabet();
  if (pairs.size === 0) return texts;
  const composed = new RegExp(`[${[...pairs.keys()].join("")}]`, "g");
  const pairFor = (character: string) => pairs.get(character) ?? character;
  let replaced: string[] | null = null;
  for (const [place, item] of items.entries()) {
    if (place % COMPARED === COMPARED - 1) yield;
    const text = texts[item] ?? "";
    const longer = text.replace(composed, pairFor);
    if (longer === text) continue;
    replaced ??= [...texts];
    replaced[item] = longer;
  }
  return replaced ?? texts;
}

/**
 * Sorts texts with the same beginning of this many units. They are given in the order of their indexes.
 */
function* sortFrom(texts: Texts, items: Int32Array, offset: number): Steps {
  if (items.length <= FEW) {
    compareFew(texts, items);
    return;
  }
  texts.untilStep -= items.length;
  if (texts.untilStep < 0) {
    texts.untilStep = LOOKED_AT;
    yield;
  }
  const narrow = latinAlphabet();
  const shared = sharedOffset(texts, items, offset, narrow);
  const foreign = yield* partition(texts, items, shared, narrow);
  if (foreign.others.length <= items.length * FOREIGN_PART_MAX) {
    yield* sortKeyed(texts, items, foreign, { alphabet: narrow, offset: shared });
    return;
  }
  const wide = wideAlphabet();
  const widelyShared = sharedOffset(texts, items, offset, wide);
  const keyed = yield* partition(texts, items, widelyShared, wide);
  yield* sortKeyed(texts, items, keyed, { alphabet: wide, offset: widelyShared });
}

interface Partition {
  /** The texts with a key, and their keys. */
  readonly keyed: Int32Array;
  readonly keys: Float64Array;
  /** The texts without a key. */
  readonly others: Int32Array;
}

function* partition(
  { keyTexts }: Texts,
  items: Int32Array,
  offset: number,
  alphabet: Alphabet,
): Steps<Partition> {
  const keyed = new Int32Array(items.length);
  const keys = new Float64Array(items.length);
  const others: number[] = [];
  let count = 0;
  for (const [place, item] of items.entries()) {
    if (place % LOOKED_AT === LOOKED_AT - 1) yield;
    const key = windowKey(keyTexts[item] ?? "", offset, alphabet);
    if (Number.isNaN(key)) {
      others.push(item);
    } else {
      keyed[count] = item;
      keys[count] = key;
      count += 1;
    }
  }
  return {
    keyed: keyed.subarray(0, count),
    keys: keys.subarray(0, count),
    others: Int32Array.from(others),
  };
}

function* sortKeyed(
  texts: Texts,
  items: Int32Array,
  { keyed, keys, others }: Partition,
  { alphabet: { radix, width }, offset }: { alphabet: Alphabet; offset: number },
): Steps {
  sortByKey(keys, keyed);
  let start = 0;
  for (let end = 1; end <= keyed.length; end += 1) {
    if (end < keyed.length && keys[end] === keys[start]) continue;
    const run = keyed.subarray(start, end);
    // A key that ends with 0 belongs to texts that have ended. Such texts differ at most in case and accents.
    if ((keys[start] ?? 0) % radix === 0) yield* sortByComparing(texts, run);
    else yield* sortFrom(texts, run, offset + width);
    start = end;
  }
  if (others.length > 0) {
    yield* sortByComparing(texts, others);
    yield* merge(texts, keyed, others, items);
  } else {
    items.set(keyed);
  }
}

/**
 * The length of the beginning that all texts share, within the alphabet. The order is decided behind it.
 */
function sharedOffset(
  { keyTexts }: Texts,
  items: Int32Array,
  offset: number,
  { ranks }: Alphabet,
): number {
  const first = keyTexts[items[0] ?? 0] ?? "";
  let end = offset;
  while (end < first.length && ranks[first.charCodeAt(end)] !== 0) end += 1;
  for (const item of items) {
    const text = keyTexts[item] ?? "";
    let at = offset;
    while (at < end && text.charCodeAt(at) === first.charCodeAt(at)) at += 1;
    end = at;
    if (end === offset) break;
  }
  return end;
}

/** Sorts parts, and then merges them two by two. */
function* sortByComparing(texts: Texts, items: Int32Array): Steps {
  if (items.length <= COMPARED) {
    compareFew(texts, items);
    return;
  }
  const middle = items.length >>> 1;
  const [first, second] = [items.slice(0, middle), items.slice(middle)];
  yield* sortByComparing(texts, first);
  yield;
  yield* sortByComparing(texts, second);
  yield* mergeEqual(texts, first, second, items);
}

function compareFew(texts: Texts, items: Int32Array): void {
  if (items.length > 1) items.sort((a, b) => compareItems(texts, a, b));
}

function compareItems({ texts }: Texts, a: number, b: number): number {
  return compareTexts(texts[a] ?? "", texts[b] ?? "") || a - b;
}

/** Merges two sorted lists of about the same length. */
function* mergeEqual(texts: Texts, first: Int32Array, second: Int32Array, into: Int32Array): Steps {
  let [one, other] = [0, 0];
  for (let place = 0; place < into.length; place += 1) {
    if (place % LOOKED_AT === LOOKED_AT - 1) yield;
    const a = first[one];
    const b = second[other];
    if (b === undefined || (a !== undefined && compareItems(texts, a, b) < 0)) {
      into[place] = a ?? 0;
      one += 1;
    } else {
      into[place] = b;
      other += 1;
    }
  }
}

/** Merges two sorted lists by searching the places of the shorter one in the longer one. */
function* merge(texts: Texts, keyed: Int32Array, others: Int32Array, into: Int32Array): Steps {
  const [long, short] = keyed.length < others.length ? [others, keyed] : [keyed, others];
  let taken = 0;
  for (let place = 0; place < short.length; place += 1) {
    if (place % COMPARED === COMPARED - 1) yield;
    const item = short[place] ?? 0;
    const end = lowerBound(texts, long, item, taken);
    into.set(long.subarray(taken, end), taken + place);
    into[end + place] = item;
    taken = end;
  }
  into.set(long.subarray(taken), taken + short.length);
}

function lowerBound(texts: Texts, sorted: Int32Array, item: number, from: number): number {
  let low = from;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = sorted[middle] ?? 0;
    if (compareItems(texts, other, item) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
