import type { Base64Form } from "./base64-form.ts";

/**
 * How many code units a search looks at first. Every form of a secret is at least as long, and
 * begins with one of the secret's anchors.
 */
export const ANCHOR_UNITS = 4;

/** In which ways a layer of encoding may write one character. */
type Options = (char: string) => readonly string[];

/** The beginnings of everything that escaping can make of a text. */
export function textAnchors(value: string): Set<string> {
  const anchors = new Set<string>();
  // A line break may also stand as CR LF.
  for (const text of new Set([value, value.replaceAll("\n", "\r\n")])) {
    const beginning = [...text].slice(0, ANCHOR_UNITS);
    for (const anchor of expand(beginning, everyPercentOptions)) anchors.add(anchor);
    if (/^[\dA-Za-z]{4}/.test(text)) {
      // What no encoder escapes by itself; nearly all secrets begin like this.
      anchors.add(text.slice(0, ANCHOR_UNITS));
      continue;
    }
    const plain = beginning.join("");
    addAll(
      anchors,
      expand(plain, (char) => [char]),
    );
    addAll(anchors, expand(plain, percentOptions));
    addAll(anchors, expand(plain, htmlOptions));
    addAll(anchors, expandAll(expand(plain, htmlOptions), quotedOptions));
    const json = expand(plain, jsonOptions);
    addAll(anchors, json);
    for (const outer of [quotedOptions, percentOptions, htmlOptions]) {
      addAll(anchors, expandAll(json, outer));
    }
  }
  return anchors;
}

/** The beginnings of the hexadecimal form. */
export function hexAnchors(value: string): Set<string> {
  const anchors = new Set<string>();
  for (const text of [value, value.replaceAll("\n", "\r\n")]) {
    const hex = Buffer.from(text.slice(0, ANCHOR_UNITS)).toString("hex").slice(0, ANCHOR_UNITS);
    anchors.add(hex).add(hex.toUpperCase());
  }
  return anchors;
}

/** Line breaks as wrapped base64 may have them, escaped or not. */
const LINE_BREAKS = ["\n", "\r\n", "\\n", "\\r\\n", "\\\\n", "%0A", "%0D%0A"];

/** The beginnings of a base64 form in both alphabets, escaped, and with a line break in between. */
export function base64Anchors(form: Base64Form): Set<string> {
  const standard = form.beginning(ANCHOR_UNITS);
  const urlSafe = standard.replaceAll("+", "-").replaceAll("/", "_");
  const anchors = new Set([standard, urlSafe]);
  addAll(anchors, expand(standard, percentOptions));
  addAll(anchors, expand(standard, jsonOptions));
  addAll(anchors, expand(standard, htmlOptions));
  for (const chars of new Set([standard, urlSafe])) {
    for (let split = 1; split < ANCHOR_UNITS; split += 1) {
      for (const lineBreak of LINE_BREAKS) {
        const wrapped = chars.slice(0, split) + lineBreak + chars.slice(split);
        anchors.add(wrapped.slice(0, ANCHOR_UNITS));
      }
    }
  }
  return anchors;
}

/** Every way to write the characters, cut to the length of an anchor. */
function expand(chars: Iterable<string>, options: Options): Set<string> {
  let results = new Set([""]);
  for (const char of chars) {
    const longer = new Set<string>();
    for (const result of results) {
      if (result.length >= ANCHOR_UNITS) longer.add(result);
      else for (const option of options(char)) longer.add((result + option).slice(0, ANCHOR_UNITS));
    }
    results = longer;
  }
  return results;
}

function expandAll(texts: Iterable<string>, options: Options): Set<string> {
  const results = new Set<string>();
  for (const text of texts) addAll(results, expand(text, options));
  return results;
}

function addAll(target: Set<string>, items: Iterable<string>): void {
  for (const item of items) target.add(item);
}

function isAlphanumeric(char: string): boolean {
  return /^[\dA-Za-z]$/.test(char);
}

/** Which characters are left as they are differs between encoders. */
function percentOptions(char: string): readonly string[] {
  if (isAlphanumeric(char)) return [char];
  const encoded = everyPercentOptions(char);
  if (char === "%") return encoded;
  return char === " " ? ["+", ...encoded] : [char, ...encoded];
}

function everyPercentOptions(char: string): readonly string[] {
  const upper = [...Buffer.from(char)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
  return [upper, upper.toLowerCase()];
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

/** Anchors are cut before the digits that tell upper from lower case, but for those of `\x`. */
function jsonOptions(char: string): readonly string[] {
  if (isAlphanumeric(char)) return [char];
  const code = char.charCodeAt(0);
  const hex = code.toString(16).padStart(4, "0");
  const options = [char, `\\u${hex}`, `\\u${hex.toUpperCase()}`];
  if (code < 0x100) options.push(`\\x${hex.slice(2)}`, `\\x${hex.slice(2).toUpperCase()}`);
  const short = SHORT_ESCAPES.get(char);
  if (short !== undefined) options.push(short);
  return options;
}

/** JSON around something that is escaped already: what has to be escaped, and what some escape. */
function quotedOptions(char: string): readonly string[] {
  if (char === "\\" || char === '"') return [`\\${char}`];
  return char === "&" || char === "/" ? [...jsonOptions(char)] : [char];
}

const ENTITY_NAMES = new Map([
  ["&", "amp"],
  ["<", "lt"],
  [">", "gt"],
  ['"', "quot"],
  ["'", "apos"],
  ["\u00a0", "nbsp"],
]);

function htmlOptions(char: string): readonly string[] {
  if (isAlphanumeric(char)) return [char];
  const codePoint = char.codePointAt(0) ?? 0;
  const hex = codePoint.toString(16);
  const options = [char, `&#${codePoint};`, `&#0${codePoint};`];
  options.push(`&#x${hex};`, `&#x${hex.toUpperCase()};`, `&#X${hex};`);
  const name = ENTITY_NAMES.get(char);
  if (name !== undefined) options.push(`&${name};`);
  return options;
}
