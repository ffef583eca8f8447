/**
 * Reads one character of an encoded form at an index of a text. The result packs the code point and the number of
 * code units read: `codePoint * 256 + units`; `NONE` for text that is not in this form. It is a number because this
 * runs for every compared character.
 */
export type Decoder = (text: string, index: number) => number;

/** The result of a decoder that cannot read. */
export const NONE = -1;

const UNITS = 256;
const CR = 0x0d;
const LF = 0x0a;
const PLUS = 0x2b;
const PERCENT = 0x25;
const SPACE = 0x20;
const BACKSLASH = 0x5c;
const AMPERSAND = 0x26;

/** The code point of a result. */
export function codePointOf(decoded: number): number {
  return decoded >> 8;
}

/** The number of code units of a result. */
export function unitsOf(decoded: number): number {
  return decoded & 0xff;
}

/** Reads plain characters. */
export function decodePlain(text: string, index: number): number {
  const codePoint = text.codePointAt(index);
  if (codePoint === undefined) return NONE;
  return codePoint * UNITS + (codePoint > 0xffff ? 2 : 1);
}

/** Reads percent-encoded UTF-8 (RFC 3986), and characters that need no encoding as they are. */
export function decodePercent(text: string, index: number): number {
  return text.charCodeAt(index) === PERCENT ? decodeUtf8(text, index, 3) : decodePlain(text, index);
}

/**
 * Reads UTF-16 bytes as text: a NUL stands on one side of each ASCII character. Elsewhere it reads like the outer
 * form.
 */
export function utf16Over(read: Decoder): Decoder {
  return (text, index) => {
    const first = read(text, index);
    if (first === NONE) return NONE;
    const next = read(text, index + unitsOf(first));
    return next === NONE || codePointOf(next) !== 0 ? first : first + unitsOf(next);
  };
}

/** Reads percent-encoding inside a text of another form. */
export function percentOver(read: Decoder): Decoder {
  return (text, index) => {
    const first = read(text, index);
    if (first === NONE || codePointOf(first) !== PERCENT) return first;
    return readUtf8((at) => readPercentByte(read, text, at), index);
  };
}

/** Reads form encoding (application/x-www-form-urlencoded), in which `+` is a space. */
export function decodeForm(text: string, index: number): number {
  if (text.charCodeAt(index) === PLUS) return SPACE * UNITS + 1;
  return decodePercent(text, index);
}

/** Reads hexadecimal UTF-8, two digits a byte. */
export function decodeHex(text: string, index: number): number {
  return decodeUtf8(text, index, 2);
}

/** Reads escapes of JSON strings inside a text of another form. */
export function jsonOver(read: Decoder): Decoder {
  return (text, index) => {
    const first = read(text, index);
    if (first === NONE || codePointOf(first) !== BACKSLASH) return first;
    const high = readJsonEscape(read, text, index, unitsOf(first));
    if (high === NONE || !isHighSurrogate(codePointOf(high))) return high;
    const next = read(text, index + unitsOf(high));
    if (next === NONE || codePointOf(next) !== BACKSLASH) return high;
    const low = readJsonEscape(read, text, index + unitsOf(high), unitsOf(next));
    if (low === NONE || !isLowSurrogate(codePointOf(low))) return high;
    const codePoint = 0x10000 + ((codePointOf(high) - 0xd800) << 10) + (codePointOf(low) - 0xdc00);
    return codePoint * UNITS + unitsOf(high) + unitsOf(low);
  };
}

/** Reads HTML entities, as encoders write them, inside a text of another form. */
export function htmlOver(read: Decoder): Decoder {
  return (text, index) => {
    const first = read(text, index);
    if (first === NONE || codePointOf(first) !== AMPERSAND) return first;
    let name = "";
    let units = unitsOf(first);
    for (let length = 0; length <= ENTITY_CHARS_MAX; length += 1) {
      const next = read(text, index + units);
      if (next === NONE) return first;
      units += unitsOf(next);
      const char = String.fromCodePoint(codePointOf(next));
      if (char === ";") {
        const codePoint = entityCodePoint(name);
        return codePoint === NONE ? first : codePoint * UNITS + units;
      }
      name += char;
    }
    // An unescaped ampersand.
    return first;
  };
}

const SHORT_ESCAPES: ReadonlyMap<number, number> = new Map(
  Object.entries({
    '"': '"',
    "\\": "\\",
    "/": "/",
    "'": "'",
    b: "\b",
    f: "\f",
    n: "\n",
    r: "\r",
    t: "\t",
  }).map(([escape, char]) => [escape.charCodeAt(0), char.charCodeAt(0)]),
);

/** Reads the rest of a JSON escape. Its backslash took `units`. */
function readJsonEscape(read: Decoder, text: string, index: number, units: number): number {
  const kind = read(text, index + units);
  if (kind === NONE) return NONE;
  const total = units + unitsOf(kind);
  const short = SHORT_ESCAPES.get(codePointOf(kind));
  if (short !== undefined) return short * UNITS + total;
  if (codePointOf(kind) === LOWER_U)
    return readHexEscape(read, text, index, { units: total, digits: 4 });
  if (codePointOf(kind) === LOWER_X)
    return readHexEscape(read, text, index, { units: total, digits: 2 });
  return NONE;
}

const LOWER_U = 0x75;
const LOWER_X = 0x78;

/** Reads the digits of an escape that begins at `index`. What comes before them took `units`. */
function readHexEscape(
  read: Decoder,
  text: string,
  index: number,
  { units, digits }: { units: number; digits: number },
): number {
  let codePoint = 0;
  let total = units;
  for (let count = 0; count < digits; count += 1) {
    const digit = read(text, index + total);
    const value = digit === NONE ? NONE : hexDigit(codePointOf(digit));
    if (value === NONE) return NONE;
    codePoint = codePoint * 16 + value;
    total += unitsOf(digit);
  }
  return codePoint * UNITS + total;
}

const ENTITIES: ReadonlyMap<string, number> = new Map([
  ["amp", 0x26],
  ["lt", 0x3c],
  ["gt", 0x3e],
  ["quot", 0x22],
  ["apos", 0x27],
  ["nbsp", 0xa0],
]);
/** The length of an entity: `#x` and seven digits, leading zeros included. */
const ENTITY_CHARS_MAX = 9;

function entityCodePoint(name: string): number {
  const numeric = /^#(?:x([\da-f]+)|(\d+))$/i.exec(name);
  if (numeric === null) return ENTITIES.get(name) ?? NONE;
  const [, hex, decimal = ""] = numeric;
  const codePoint = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return codePoint > 0x10ffff ? NONE : codePoint;
}

/**
 * Reads one character of UTF-8 whose bytes take `width` units each. The last two units are hex digits.
 */
function decodeUtf8(text: string, index: number, width: 2 | 3): number {
  return readUtf8((at) => {
    const byte = byteAt(text, at, width);
    return byte === NONE ? NONE : byte * UNITS + width;
  }, index);
}

/**
 * Reads one character of UTF-8. `readByte` returns the byte at an index with its number of units.
 */
function readUtf8(readByte: (index: number) => number, index: number): number {
  const start = readByte(index);
  if (start === NONE) return NONE;
  const first = codePointOf(start);
  if (first < 0x80) return start;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  let codePoint = first & (0xff >> (length + 1));
  let units = unitsOf(start);
  for (let count = 1; count < length; count += 1) {
    const next = readByte(index + units);
    const byte = next === NONE ? NONE : codePointOf(next);
    if (byte === NONE || byte >> 6 !== 2) return NONE;
    codePoint = codePoint * 64 + (byte & 0x3f);
    units += unitsOf(next);
  }
  return codePoint > 0x10ffff ? NONE : codePoint * UNITS + units;
}

/** Reads a percent sign and two hex digits, each written by another layer. */
function readPercentByte(read: Decoder, text: string, index: number): number {
  const sign = read(text, index);
  if (sign === NONE || codePointOf(sign) !== PERCENT) return NONE;
  const high = read(text, index + unitsOf(sign));
  if (high === NONE) return NONE;
  const units = unitsOf(sign) + unitsOf(high);
  const low = read(text, index + units);
  if (low === NONE) return NONE;
  const [left, right] = [hexDigit(codePointOf(high)), hexDigit(codePointOf(low))];
  if (left === NONE || right === NONE) return NONE;
  return (left * 16 + right) * UNITS + units + unitsOf(low);
}

function byteAt(text: string, index: number, width: 2 | 3): number {
  if (width === 3 && text.charCodeAt(index) !== PERCENT) return NONE;
  const high = hexDigit(text.charCodeAt(index + width - 2));
  const low = hexDigit(text.charCodeAt(index + width - 1));
  return high === NONE || low === NONE ? NONE : high * 16 + low;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : NONE;
}

function isHighSurrogate(codePoint: number): boolean {
  return codePoint >= 0xd800 && codePoint <= 0xdbff;
}

function isLowSurrogate(codePoint: number): boolean {
  return codePoint >= 0xdc00 && codePoint <= 0xdfff;
}

/** Reads one character, and a line break of any kind as `\n`. */
export function readFolded(text: string, index: number, decode: Decoder): number {
  const decoded = decode(text, index);
  if (decoded === NONE || codePointOf(decoded) !== CR) return decoded;
  const units = unitsOf(decoded);
  const next = decode(text, index + units);
  const isPair = next !== NONE && codePointOf(next) === LF;
  return LF * UNITS + units + (isPair ? unitsOf(next) : 0);
}

/**
 * How far a sequence of code points matches at an index of a text in some form. Returns the index behind the match,
 * or the bitwise complement of the index where it stops matching.
 * @param wanted the code points, line breaks as `\n`
 */
export function matchAt(
  text: string,
  start: number,
  wanted: ArrayLike<number>,
  decode: Decoder,
): number {
  let index = start;
  for (let position = 0; position < wanted.length; position += 1) {
    const read = readFolded(text, index, decode);
    if (read === NONE || codePointOf(read) !== wanted[position]) return ~index;
    index += unitsOf(read);
  }
  return index;
}
