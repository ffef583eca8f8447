import { randomInt } from "node:crypto";

/** A value that must not be seen, and where it may be all the same. */
export interface Canary {
  /** Which secret it is, for people. */
  name: string;
  /** The part of the value that nobody else has: at least 20 characters. */
  core: string;
  /** Where the contract shows it: matched against what a piece of evidence is called. */
  shownIn?: RegExp;
}

/**
 * The canaries of which `RUN` characters in a row are in a text, in any encoding: by name, with what stands
 * around the first find.
 */
export type Find = (content: Buffer) => ReadonlyMap<string, string>;

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const CORE_LENGTH = 28;
/** So many characters of a value are enough to be found: others have fewer in common with it by chance. */
export const RUN = 12;
/** Length of what is looked up; what is around it is compared then. */
const PIECE = 8;
/** Every so many characters a piece begins. */
const STRIDE = 4;

/** How much of the text around a find is shown, on either side. */
const AROUND = 100;

/** Globals are looked up slowly within Jest, and this one for each byte. */
const { imul } = Math;
const PRIME = 16_777_619;
const TABLE_BITS = 24;

/** Letters and digits that no encoder leaves out, so that most of them leave the core as it is. */
export function newCore(): string {
  return Array.from({ length: CORE_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

/**
 * Looks for values in their encodings in a way of its own, so that a mistake of packages/scrubber is not
 * repeated here: what encoders make of the value is looked for in pieces, and what they would escape is
 * decoded in the text.
 */
export function createFinder(canaries: readonly Canary[]): Find {
  const index: Index = { pieces: new Map(), table: new Uint8Array(1 << (TABLE_BITS - 3)) };
  for (const { name, core } of canaries) {
    if (core.length < 20) throw new Error(`The value of ${name} is too short to be looked for.`);
    for (const form of formsOf(core)) {
      // A form that is longer has less of the value in each of its characters.
      const needed = Math.ceil((RUN * form.length) / core.length);
      for (let at = 0; at + PIECE <= form.length; at += STRIDE) {
        const piece = form.subarray(at, at + PIECE);
        const text = piece.toString("latin1");
        const same = index.pieces.get(text) ?? [];
        index.pieces.set(text, [...same, { name, form, at, needed }]);
        const hash = hashOf(piece);
        index.table[hash >>> 3] = (index.table[hash >>> 3] ?? 0) | (1 << (hash & 7));
      }
    }
  }
  return (content) => {
    const found = new Map<string, string>();
    for (const view of viewsOf(content)) scan(view, index, found);
    return found;
  };
}

/** Where in a form a piece is, and how much around it has to be there as well. */
interface Place {
  name: string;
  form: Buffer;
  at: number;
  needed: number;
}

/** All pieces, and a table of one bit by hash that says quickly where there is none. */
interface Index {
  pieces: Map<string, readonly Place[]>;
  table: Uint8Array;
}

/** A value as it is, in UTF-16, in base64 and hexadecimal digits, and in two layers of these. */
function formsOf(core: string): Iterable<Buffer> {
  const value = Buffer.from(core);
  const wide = [Buffer.from(core, "utf16le"), Buffer.from(core, "utf16le").swap16()];
  const cased = [core.toUpperCase(), core.toLowerCase()].map((text) => Buffer.from(text));
  const once = encoded(value);
  const digits = [...once, ...wide.flatMap(encoded), ...once.flatMap(encoded)].flatMap(spellings);
  const all = [value, ...wide, ...cased, ...digits];
  return new Map(all.map((form) => [form.toString("latin1"), form])).values();
}

/** Hexadecimal digits in capitals as well, base64 in the alphabet of URLs. */
function spellings(form: Buffer): Buffer[] {
  const text = form.toString();
  const other = /^[\da-f]+$/.test(text)
    ? text.toUpperCase()
    : text.replaceAll("+", "-").replaceAll("/", "_");
  return [form, Buffer.from(other)];
}

/** Hexadecimal digits, and base64 at each offset: only the digits that no neighbour has a part in. */
function encoded(value: Buffer): Buffer[] {
  const offsets = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), value]).toString("base64");
    return text.replace(/=+$/, "").slice(offset === 0 ? 0 : offset + 1, -1);
  });
  return [value.toString("hex"), ...offsets].map((text) => Buffer.from(text));
}

const ESCAPED =
  /%([\da-f]{2})|\\+u([\da-f]{4})|\\+x([\da-f]{2})|=([\dA-F]{2})|&#(\d{2,5});|&#x([\da-f]{2,4});/i;
const ALL_ESCAPED = new RegExp(ESCAPED.source, "gi");
/** What may stand between the digits of wrapped base64, between those of UTF-16, and after escaping. */
const BETWEEN = /[\s\0]|\\+[nrt]|\\+\r?\n|=\r?\n/;
const ALL_BETWEEN = new RegExp(BETWEEN.source, "g");

/** The content and what decoders make of it: twice over what is escaped, and without what wraps. */
function* viewsOf(content: Buffer): Generator<Buffer> {
  yield content;
  let text = content.toString("latin1");
  for (let layer = 0; ; layer += 1) {
    if (BETWEEN.test(text)) yield Buffer.from(text.replaceAll(ALL_BETWEEN, ""), "latin1");
    if (layer === 2 || !ESCAPED.test(text)) return;
    text = text.replaceAll(ALL_ESCAPED, decodeOne);
    yield Buffer.from(text, "latin1");
  }
}

function decodeOne(_match: string, ...groups: (string | undefined)[]): string {
  const [percent, unicode, short, quoted, decimal, hexadecimal] = groups;
  const digits = percent ?? unicode ?? short ?? quoted ?? hexadecimal;
  const code = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16);
  // All that is looked for is ASCII.
  return code < 256 ? String.fromCharCode(code) : "?";
}

function hashOf(piece: Buffer): number {
  let hash = 0;
  for (const byte of piece) hash = (imul(hash, PRIME) + byte) | 0;
  return fold(hash);
}

function fold(hash: number): number {
  return (hash ^ (hash >>> 13)) & ((1 << TABLE_BITS) - 1);
}

/** PRIME to the power of PIECE: what a byte that leaves the window has become by then. */
const LEAVING = Array.from({ length: PIECE }).reduce<number>((power) => imul(power, PRIME), 1);

/** One pass with a rolling hash, whatever the number of pieces. */
function scan(bytes: Buffer, { pieces, table }: Index, found: Map<string, string>): void {
  let hash = 0;
  for (let end = 0; end < bytes.length; end += 1) {
    const leaving = end < PIECE ? 0 : (bytes[end - PIECE] ?? 0);
    hash = (imul(hash, PRIME) + (bytes[end] ?? 0) - imul(leaving, LEAVING)) | 0;
    const place = fold(hash);
    if (((table[place >>> 3] ?? 0) & (1 << (place & 7))) === 0) continue;
    const from = Math.max(0, end - PIECE + 1);
    for (const piece of pieces.get(bytes.toString("latin1", from, end + 1)) ?? []) {
      if (found.has(piece.name) || lengthAround(bytes, from, piece) < piece.needed) continue;
      const around = bytes.toString("latin1", Math.max(0, from - AROUND), end + AROUND);
      found.set(piece.name, around);
    }
  }
}

/** How much of a form is there, when the piece at `at` is at `from`. */
function lengthAround(bytes: Buffer, from: number, { form, at }: Place): number {
  let before = 0;
  while (before < at && bytes[from - before - 1] === form[at - before - 1]) before += 1;
  let after = PIECE;
  while (at + after < form.length && bytes[from + after] === form[at + after]) after += 1;
  return before + after;
}
