import type { SearchBudget } from "./search-budget.ts";

/**
 * The number of code units that a search compares first. Every form of a secret has an anchor: that
 * many units which always stand together.
 */
export const ANCHOR_UNITS = 4;

/** A part of a text; the end is exclusive. */
export interface Range {
  start: number;
  end: number;
}

/** One form of a secret. */
export interface SecretForm {
  /**
   * The range of the form in a text whose anchor is at an index; null when the form does not match there.
   */
  match(text: string, at: number, budget: SearchBudget): Range | null;
}

/** The ways in which a layer of encoding may write one character. */
export type WaysToWrite = (char: string) => readonly string[];

/** The first units of every text that a layer of encoding can produce from a text. */
export function expand(text: string, ways: WaysToWrite): ReadonlySet<string> {
  let results = new Set([""]);
  for (const char of text) {
    const longer = new Set<string>();
    for (const result of results) {
      if (result.length >= ANCHOR_UNITS) longer.add(result);
      else for (const way of ways(char)) longer.add((result + way).slice(0, ANCHOR_UNITS));
    }
    results = longer;
  }
  return results;
}

/** The first units for another layer around the texts that `expand` returned. */
export function expandAll(texts: Iterable<string>, ways: WaysToWrite): ReadonlySet<string> {
  const results = new Set<string>();
  for (const text of texts) for (const result of expand(text, ways)) results.add(result);
  return results;
}

/** The first units of a text in each of the encodings. */
export function escapedAnchors(text: string): ReadonlySet<string> {
  const all = [percentWays, jsonWays, htmlWays].flatMap((ways) => [...expand(text, ways)]);
  return new Set(all);
}

/**
 * The characters that some percent-encoders leave alone (RFC 3986). All of them encode the others.
 */
const RESERVED = ";/?:@&=+$,#-_.!~*'()[]";

/** Percent-encoding of UTF-8, or form encoding. */
export function percentWays(char: string): readonly string[] {
  if (isAlphanumeric(char)) return [char];
  const bytes = [...Buffer.from(char)];
  const upper = bytes
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
  const encoded = [upper, upper.toLowerCase()];
  if (char === " ") return ["+", ...encoded];
  return RESERVED.includes(char) ? [char, ...encoded] : encoded;
}

const SHORT_ESCAPES = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["/", "\\/"],
  ["'", "\\'"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

/** JSON may escape any character by its number, and some by a letter. */
export function jsonWays(char: string): readonly string[] {
  if (isAlphanumeric(char)) return [char];
  const code = char.charCodeAt(0);
  const hex = code.toString(16).padStart(4, "0");
  const ways = [char, `\\u${hex}`, `\\u${hex.toUpperCase()}`];
  if (code < 0x100) ways.push(`\\x${hex.slice(2)}`, `\\x${hex.slice(2).toUpperCase()}`);
  const short = SHORT_ESCAPES.get(char);
  if (short !== undefined) ways.push(short);
  return ways;
}

/** A second layer of JSON: what must be escaped, and what some encoders escape. */
export function outerJsonWays(char: string): readonly string[] {
  if (char === "\\" || char === '"') return [`\\${char}`];
  return char === "&" || char === "/" ? jsonWays(char) : [char];
}

const ENTITY_NAMES = new Map([
  ["&", "amp"],
  ["<", "lt"],
  [">", "gt"],
  ['"', "quot"],
  ["'", "apos"],
  ["\u00a0", "nbsp"],
]);

/** HTML writes numbers in three ways. Some characters have names. */
export function htmlWays(char: string): readonly string[] {
  if (isAlphanumeric(char)) return [char];
  const codePoint = char.codePointAt(0) ?? 0;
  const hex = codePoint.toString(16);
  const ways = [char, `&#${codePoint};`, `&#0${codePoint};`];
  ways.push(`&#x${hex};`, `&#x${hex.toUpperCase()};`, `&#X${hex};`);
  const name = ENTITY_NAMES.get(char);
  if (name !== undefined) ways.push(`&${name};`);
  return ways;
}

/** A text, and the versions of it with each other kind of line break. */
export function withOtherBreaks(text: string): readonly string[] {
  if (!text.includes("\n")) return [text];
  return [text, text.replaceAll("\n", "\r\n"), text.replaceAll("\n", "\r")];
}

/** The first units of a text with line breaks of any kind, mixed kinds included. */
export function beginningsWithAnyBreaks(text: string): ReadonlySet<string> {
  return expand(text, (char) => (char === "\n" ? ["\n", "\r\n", "\r"] : [char]));
}

/** The first units of the hexadecimal form. */
export function hexAnchors(value: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const text of beginningsWithAnyBreaks(value.slice(0, ANCHOR_UNITS))) {
    const hex = Buffer.from(text).toString("hex").slice(0, ANCHOR_UNITS);
    anchors.add(hex).add(hex.toUpperCase());
  }
  return anchors;
}

/** The first units of UTF-16, as the decoders read it. */
export function utf16Anchors(value: string): readonly Iterable<string>[] {
  const texts = [...beginningsWithAnyBreaks(value.slice(0, 2))];
  const all = texts.map((text) => Array.from(text).join("\0") + "\0");
  const hex = all.map((written) => Buffer.from(written).toString("hex").slice(0, ANCHOR_UNITS));
  return [
    all.map((written) => written.slice(0, ANCHOR_UNITS)),
    all.flatMap((written) => [...expand(written, jsonWays)]),
    all.flatMap((written) => [...expand(written, percentWays)]),
    hex.flatMap((digits) => [digits, digits.toUpperCase()]),
  ];
}

/**
 * The first units where letters and digits are percent-encoded as well, although nothing requires it.
 */
export function fullPercentAnchors(value: string): ReadonlySet<string> {
  const digits = (byte: number): string => byte.toString(16).padStart(2, "0");
  const anchors = [...beginningsWithAnyBreaks(value.slice(0, 2))].flatMap((text) => {
    const [first = 0, second = 0] = Buffer.from(text);
    const written = `%${digits(first)}%${digits(second)}`.slice(0, ANCHOR_UNITS);
    return [written, written.toUpperCase()];
  });
  return new Set(anchors);
}

function isAlphanumeric(char: string): boolean {
  return /^[\dA-Za-z]$/.test(char);
}
