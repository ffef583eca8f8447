import { ANCHOR_UNITS, escapedAnchors } from "./anchors.ts";
import type { Range, SearchBudget, SecretForm } from "./anchors.ts";
import {
  codePointOf,
  decodePercent,
  decodePlain,
  htmlOver,
  jsonOver,
  NONE,
  unitsOf,
} from "./decoders.ts";

/** Enough bytes to have anchors in what base64 makes of them. */
const BEGINNING_BYTES = 18;

/** What base64 makes of a value, each with its anchors. */
export function* base64FormsOf(value: string): Generator<[Iterable<string>, SecretForm]> {
  for (const write of WRITINGS) {
    const written = write(value);
    if (written === value && write !== asItIs) continue;
    for (const offset of [0, 1, 2]) yield* formsOf(written, offset);
  }
}

const asItIs = (value: string): string => value;

/** What may have been encoded: the value, its other line breaks, or JSON that holds one of them. */
const WRITINGS: readonly ((value: string) => string)[] = [
  asItIs,
  withCrLf,
  inJson,
  (value) => (value.includes("\n") ? inJson(withCrLf(value)) : value),
];

function withCrLf(value: string): string {
  return value.includes("\n") ? value.replaceAll("\n", "\r\n") : value;
}

function inJson(value: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what JSON escapes
  return /["\\\u0000-\u001f]/.test(value) ? JSON.stringify(value).slice(1, -1) : value;
}

function* formsOf(written: string, offset: number): Generator<[Iterable<string>, SecretForm]> {
  const form = new Base64Form(written, offset);
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
 * Where there are letters and digits that both alphabets have and nothing escapes: two places, as a
 * line break may be within the first.
 */
function findAnchors(core: string): number[] {
  const places = [...core.matchAll(/[\dA-Za-z]{4}/g)].map(({ index }) => index);
  return places.slice(0, 2);
}

/**
 * Six bits a character: depending on where in a group of three bytes a value begins, its first and
 * its last character may also hold bits of what is around. The characters in between, its core, are
 * always the same; they are what can be searched for.
 */
class Base64Form implements SecretForm {
  readonly #written: string;
  /** Bytes of the group of three that come before: 0, 1 or 2. */
  readonly #offset: number;
  /** The first characters of the core, in the standard alphabet; all of a short one. */
  readonly beginning: string;
  #core: string | undefined;

  constructor(written: string, offset: number) {
    this.#written = written;
    this.#offset = offset;
    const bytes = Buffer.from(written.slice(0, BEGINNING_BYTES)).subarray(0, BEGINNING_BYTES);
    this.beginning = coreOf(bytes, offset);
  }

  /**
   * The range that the form takes up in a text in which its core begins at `start`; null when it does
   * not. Both alphabets, line breaks, and what JSON, percent-encoding or HTML make of either; the
   * range includes the characters that share bits with the neighbours, and padding.
   */
  match(text: string, start: number, budget: SearchBudget): Range | null {
    // Most of what begins like a secret is none: the whole core is made for those that go on.
    if (matchCore(text, start, this.beginning, budget) < 0) return null;
    this.#core ??= coreOf(Buffer.from(this.#written), this.#offset);
    const end = matchCore(text, start, this.#core, budget);
    if (end < 0) return null;
    const bits = 8 * (this.#offset + Buffer.byteLength(this.#written));
    return {
      start: this.#offset === 0 ? start : back(text, start, 1),
      end: bits % 6 === 0 ? end : endOfGroup(text, end),
    };
  }
}

/** The index behind a core that stands at an index of a text; -1 when it does not. */
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

/** The characters that hold bits of the bytes alone. */
function coreOf(bytes: Buffer, offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  const first = Math.ceil((8 * offset) / 6);
  return encoded.slice(first, Math.floor((8 * (offset + bytes.length)) / 6));
}

const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const AMPERSAND = 0x26;
const CR = 0x0d;
const LF = 0x0a;
const EQUALS = 0x3d;
const decodeJson = jsonOver(decodePlain);
const decodeJsonTwice = jsonOver(decodeJson);
const decodeHtml = htmlOver(decodePlain);

/** Reads a character that may be escaped in one of the ways that text with base64 is escaped in. */
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
    // Nearly always a character of base64.
    if (code > BACKSLASH || Number.isNaN(code)) return index;
    const read = readCharacter(text, index);
    if (read === NONE || (codePointOf(read) !== CR && codePointOf(read) !== LF)) return index;
    index += unitsOf(read);
  }
}

/** A character of base64, escaped or not, and the line breaks behind it, at the end of a text. */
const PREVIOUS = /(?:%2[bf]|\\+\/|&#x?[\da-f]+;|[\w+/-])(?:\r?\n|(?:\\+r)?\\+n|(?:%0d)?%0a)*$/i;
const PREVIOUS_UNITS_MAX = 24;

/** The index of so many characters of base64 earlier, as far as there are any. */
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
