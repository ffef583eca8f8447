import {
  codePointOf,
  decodePercent,
  decodePlain,
  htmlOver,
  jsonOver,
  NONE,
  unitsOf,
} from "./decoders.ts";

/**
 * What base64 makes of bytes in the middle of other bytes. Six bits a character: depending on where
 * in a group of three the bytes begin, the first and the last character may also hold bits of what is
 * around. The characters in between are always the same; they are what can be searched for.
 */
export class Base64Form {
  readonly #bytes: Buffer;
  /** Bytes of the group of three that come before: 0, 1 or 2. */
  readonly #offset: number;
  #core: Uint8Array | undefined;

  constructor(bytes: Buffer, offset: number) {
    this.#bytes = bytes;
    this.#offset = offset;
  }

  /** The first characters, up to `count`, in the standard alphabet. */
  beginning(count: number): string {
    return coreOf(this.#bytes.subarray(0, count), this.#offset).slice(0, count);
  }

  /**
   * The range that the form takes up in a text in which its core begins at `start`, null when it does
   * not, and how many units were compared to tell. Both alphabets, line breaks, and what JSON,
   * percent-encoding or HTML make of either; the range includes the characters that share bits with
   * the neighbours, and padding.
   */
  find(
    text: string,
    start: number,
  ): { range: { start: number; end: number } | null; compared: number } {
    this.#core ??= Uint8Array.from(coreOf(this.#bytes, this.#offset), (char) =>
      valueOf(char.charCodeAt(0)),
    );
    let end = start;
    for (const wanted of this.#core) {
      const index = end === start ? start : skipBreaks(text, end);
      const read = readCharacter(text, index);
      if (read === NONE || valueOf(codePointOf(read)) !== wanted) {
        return { range: null, compared: index - start + 1 };
      }
      end = index + unitsOf(read);
    }
    const bits = 8 * (this.#offset + this.#bytes.length);
    const range = {
      start: this.#offset === 0 ? start : startOfPrevious(text, start),
      end: bits % 6 === 0 ? end : endOfGroup(text, end),
    };
    return { range, compared: end - start };
  }
}

/** The forms of bytes in all three positions. */
export function base64FormsOf(bytes: Buffer): Base64Form[] {
  return [0, 1, 2].map((offset) => new Base64Form(bytes, offset));
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

/** The index of the character of base64 before an index, or that index when there is none. */
function startOfPrevious(text: string, index: number): number {
  let end = index;
  while (text.charCodeAt(end - 1) === LF || text.charCodeAt(end - 1) === CR) end -= 1;
  for (const units of [1, 2, 3]) {
    const read = readCharacter(text, end - units);
    if (read !== NONE && unitsOf(read) === units && valueOf(codePointOf(read)) !== NOT_BASE64) {
      return end - units;
    }
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
    for (const [value, char] of [...all].entries()) values[char.charCodeAt(0)] = value;
  }
  return values;
}
