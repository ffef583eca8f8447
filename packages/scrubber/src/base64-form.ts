import { ANCHOR_UNITS, escapedAnchors, withOtherBreaks } from "./anchors.ts";
import type { Range, SecretForm } from "./anchors.ts";
import {
  codePointOf,
  decodePercent,
  decodePlain,
  htmlOver,
  jsonOver,
  NONE,
  unitsOf,
} from "./decoders.ts";
import type { SearchBudget } from "./search-budget.ts";

/** Enough bytes to contain anchors once base64 has encoded them. */
const BEGINNING_BYTES = 18;

/** The base64 forms of a value, encoded once and twice, each with its anchors. */
export function* base64FormsOf(value: string): Generator<[Iterable<string>, SecretForm]> {
  for (const source of sourcesOf(value)) {
    for (const offset of OFFSETS) yield* formsOf(source, offset);
  }
}

/** Longer values are not encoded in advance. */
const ENCODED_CHARS_MAX = 256;

/** A text that may have been encoded. */
interface Source {
  /** The first `BEGINNING_BYTES` bytes, or all of a shorter text. */
  readonly beginning: Buffer;
  /** All bytes; computed at each call. */
  whole(): Buffer;
}

const OFFSETS = [0, 1, 2] as const;

function* sourcesOf(value: string): Generator<Source> {
  for (const written of writingsOf(value)) yield sourceOf(written, (text) => Buffer.from(text));
  yield sourceOf(value, (text) => Buffer.from(text, "utf16le"));
  yield sourceOf(value, (text) => Buffer.from(text, "utf16le").swap16());
  for (const offset of OFFSETS) {
    const encode = (text: string): string => coreOf(Buffer.from(text), offset);
    yield sourceOf(value, (text) => Buffer.from(encode(text)));
    // A long value contains such characters somewhere. It is encoded during the search.
    if (value.length > ENCODED_CHARS_MAX || /[+/]/.test(encode(value))) {
      yield sourceOf(value, (text) =>
        Buffer.from(encode(text).replaceAll("+", "-").replaceAll("/", "_")),
      );
    }
  }
}

/** @param encode maps the beginning of a text to the beginning of its encoded form */
function sourceOf(text: string, encode: (text: string) => Buffer): Source {
  // A split surrogate pair gives other bytes, but only behind the counted ones.
  const beginning = encode(text.slice(0, BEGINNING_BYTES + 2));
  return { beginning: beginning.subarray(0, BEGINNING_BYTES), whole: () => encode(text) };
}

/**
 * The texts that may have been encoded: the value, its other line breaks, or JSON that holds one of them.
 */
function writingsOf(value: string): ReadonlySet<string> {
  return new Set(withOtherBreaks(value).flatMap((written) => [written, inJson(written)]));
}

function inJson(value: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what JSON escapes
  return /["\\\u0000-\u001f]/.test(value) ? JSON.stringify(value).slice(1, -1) : value;
}

function* formsOf(source: Source, offset: number): Generator<[Iterable<string>, SecretForm]> {
  const form = new Base64Form(source, offset);
  const anchors = findAnchors(form.beginning);
  if (anchors.length === 0) {
    const first = form.beginning.slice(0, ANCHOR_UNITS);
    const urlSafe = first.replaceAll("+", "-").replaceAll("/", "_");
    yield [[urlSafe, ...escapedAnchors(first)], form];
  }
  for (const at of anchors) {
    yield [
      [form.beginning.slice(at, at + ANCHOR_UNITS)],
      { match: (text, index, budget) => form.match(text, back(text, index, at), budget) },
    ];
  }
}

/**
 * Two places in a core with only letters and digits that both alphabets have and nothing escapes. A line break may
 * lie within the first place.
 */
function findAnchors(core: string): number[] {
  const places: number[] = [];
  let run = 0;
  for (let index = 0; index < core.length && places.length < 2; index += 1) {
    const code = core.charCodeAt(index);
    run = code === PLUS || code === SLASH ? 0 : run + 1;
    if (run < ANCHOR_UNITS) continue;
    places.push(index + 1 - ANCHOR_UNITS);
    run = 0;
  }
  return places;
}

/**
 * One form of a secret in base64. A value may begin anywhere in a group of three bytes, so its first and last
 * characters may hold bits of its neighbours. The characters in between, the core, are always the same and can be
 * searched for.
 */
class Base64Form implements SecretForm {
  readonly #source: Source;
  /** The number of preceding bytes in the first group of three: 0, 1 or 2. */
  readonly #offset: number;
  /** The first characters of the core, in the standard alphabet; all of a short one. */
  readonly beginning: string;
  #whole: { core: string; bits: number } | undefined;

  constructor(source: Source, offset: number) {
    this.#source = source;
    this.#offset = offset;
    this.beginning = coreOf(source.beginning, offset);
  }

  /**
   * The range of the form in a text where its core begins at `start`; null when the form does not match. Both
   * alphabets, line breaks, and escapes of JSON, percent-encoding and HTML are recognized. The range includes
   * padding and the characters that share bits with neighbours.
   */
  match(text: string, start: number, budget: SearchBudget): Range | null {
    // Most texts that begin like a secret are no secret, so the whole core is computed only after this
    // check.
    if (matchCore(text, start, this.beginning, budget) < 0) return null;
    this.#whole ??= wholeOf(this.#source, this.#offset);
    const { core, bits } = this.#whole;
    const end = matchCore(text, start, core, budget);
    if (end < 0) return null;
    return {
      start: this.#offset === 0 ? start : back(text, start, 1),
      end: bits % 6 === 0 ? end : endOfGroup(text, end),
    };
  }
}

/** The core of a source, and its number of bits. */
function wholeOf(source: Source, offset: number): { core: string; bits: number } {
  const bytes = source.whole();
  return { core: coreOf(bytes, offset), bits: 8 * (offset + bytes.length) };
}

/** The cores of all base64 forms of a value. */
export function base64CoresOf(value: string): string[] {
  return [...sourcesOf(value)].flatMap((source) =>
    OFFSETS.map((offset) => wholeOf(source, offset).core),
  );
}

/** Reads six bits of base64 and skips line breaks before them, as decoders do. */
export function readSixBits(text: string, index: number): number {
  const start = skipBreaks(text, index);
  const read = readCharacter(text, start);
  const value = read === NONE ? NOT_BASE64 : valueOf(codePointOf(read));
  return value === NOT_BASE64 ? NONE : (value << 8) | (unitsOf(read) + start - index);
}

/** The six bits of each character of a core. */
export function sixBitsOf(core: string): Uint32Array {
  return Uint32Array.from(core, (char) => valueOf(char.charCodeAt(0)));
}

/** The index behind a core that stands at an index of a text; -1 when it does not stand there. */
function matchCore(text: string, start: number, core: string, budget: SearchBudget): number {
  let end = start;
  for (let position = 0; position < core.length; position += 1) {
    const index = position === 0 ? start : skipBreaks(text, end);
    const read = readCharacter(text, index);
    if (read === NONE || valueOf(codePointOf(read)) !== valueOf(core.charCodeAt(position))) {
      budget.spend(index - start);
      return -1;
    }
    end = index + unitsOf(read);
  }
  budget.spend(end - start);
  return end;
}

/** The characters that hold only bits of the given bytes. */
function coreOf(bytes: Buffer, offset: number): string {
  const encoded = offset === 0 ? bytes.toString("base64") : behindZeros(bytes, offset);
  const first = Math.ceil((8 * offset) / 6);
  return encoded.slice(first, Math.floor((8 * (offset + bytes.length)) / 6));
}

/**
 * A scrubber is made for every run that uses secrets, with dozens of forms for each secret. One buffer serves them
 * all.
 */
const scratch = Buffer.alloc(2 * BEGINNING_BYTES);

function behindZeros(bytes: Buffer, offset: number): string {
  const length = offset + bytes.length;
  const padded = length <= scratch.length ? scratch : Buffer.alloc(length);
  padded.fill(0, 0, offset);
  bytes.copy(padded, offset);
  return padded.toString("base64", 0, length);
}

const PERCENT = 0x25;
const PLUS = 0x2b;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const AMPERSAND = 0x26;
const CR = 0x0d;
const LF = 0x0a;
const EQUALS = 0x3d;
const decodeJson = jsonOver(decodePlain);
const decodeJsonTwice = jsonOver(decodeJson);
const decodeHtml = htmlOver(decodePlain);

/** Reads a character that may be escaped in one of the ways in which base64 text is escaped. */
function readCharacter(text: string, index: number): number {
  switch (text.charCodeAt(index)) {
    case PERCENT:
      return decodePercent(text, index);
    case AMPERSAND:
      return decodeHtml(text, index);
    case BACKSLASH: {
      const once = decodeJson(text, index);
      return once !== NONE && codePointOf(once) === BACKSLASH ? decodeJsonTwice(text, index) : once;
    }
    default:
      return decodePlain(text, index);
  }
}

/** The index behind the line breaks of wrapped base64. */
function skipBreaks(text: string, start: number): number {
  let index = start;
  for (;;) {
    const code = text.charCodeAt(index);
    // This is nearly always a character of base64.
    if (code > BACKSLASH || Number.isNaN(code)) return index;
    const read = readCharacter(text, index);
    if (read === NONE || (codePointOf(read) !== CR && codePointOf(read) !== LF)) return index;
    index += unitsOf(read);
  }
}

/** At the end of a text: a character of base64, escaped or not, with the line breaks behind it. */
const PREVIOUS = /(?:%2[bf]|\\+\/|&#x?[\da-f]+;|[\w+/-])(?:\r?\n|(?:\\+r)?\\+n|(?:%0d)?%0a)*$/i;
const PREVIOUS_UNITS_MAX = 24;

/** The index that lies so many base64 characters earlier, or as far as there are any. */
function back(text: string, from: number, count: number): number {
  let index = from;
  for (let step = 0; step < count; step += 1) {
    const before = text.slice(Math.max(0, index - PREVIOUS_UNITS_MAX), index);
    index -= PREVIOUS.exec(before)?.[0].length ?? 0;
  }
  return index;
}

/** The index behind one more character and the padding. */
function endOfGroup(text: string, start: number): number {
  let index = skipBreaks(text, start);
  const read = readCharacter(text, index);
  if (read === NONE || valueOf(codePointOf(read)) === NOT_BASE64) return start;
  index += unitsOf(read);
  for (let count = 0; count < 2; count += 1) {
    const padding = readCharacter(text, index);
    if (padding === NONE || codePointOf(padding) !== EQUALS) break;
    index += unitsOf(padding);
  }
  return index;
}

const NOT_BASE64 = 0xff;
const VALUES = makeValues();

/** Six bits of a character of either alphabet, or NOT_BASE64. */
function valueOf(code: number): number {
  return VALUES[code] ?? NOT_BASE64;
}

function makeValues(): Uint8Array {
  const values = new Uint8Array(128).fill(NOT_BASE64);
  for (const alphabet of ["+/", "-_"]) {
    const all = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${alphabet}`;
    for (let value = 0; value < all.length; value += 1) values[all.charCodeAt(value)] = value;
  }
  return values;
}
