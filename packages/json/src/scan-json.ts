import { NESTING_MAX } from "./json-text.ts";

/** A fault of a text that should be a JSON object fit for storage. */
export interface JsonProblem {
  /** `type`: the text is JSON, but no object. */
  kind: "syntax" | "type" | "depth" | "text";
  /** The index in the text, in UTF-16 units. */
  position: number;
}

/** The members of the outermost object, each value as its original text. */
export type JsonMembers = ReadonlyMap<string, string>;

/** A part of a text: from `start` up to, but not including, `end`. */
export interface Span {
  start: number;
  end: number;
}

/** A member of the outermost object. When it is an array, its elements are cut out as well. */
export interface ArrayCut {
  member: string;
  /**
   * Called when the array begins. A repeated member begins anew, and its earlier elements do not count.
   */
  onArray: () => void;
  onElement: (span: Span) => void;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;
/** Everything up to the closing quote. Characters behind a backslash are examined separately. */
const STRING_CHUNK = /[\x20\x21\x23-\x5b\x5d-\uffff]*/y;
const HEX4 = /[0-9a-fA-F]{4}/y;

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SIMPLE_ESCAPES = '"\\/bfnrt';

/**
 * Reads a JSON object (RFC 8259) once, without building it. It checks the syntax, the nesting (at most
 * 64) and the strings, which must have no NUL and no lone surrogate (D2). It also cuts out the members
 * of the outermost object; of members with the same name the last counts, as in JSON.parse. A text that
 * passes is safe for JSON.parse, and its parts can be passed on unchanged: numbers, key order and keys
 * such as `__proto__` stay. The text itself must not contain lone surrogates.
 */
export function scanJsonObject(text: string, cut?: ArrayCut): JsonMembers | JsonProblem {
  const scanner = new Scanner(text);
  try {
    return scanner.scanRoot(cut);
  } catch (error) {
    if (error instanceof ScanFailure) return { kind: error.kind, position: error.position };
    throw error;
  }
}

/** The elements of a JSON array in a text that passed `scanJsonObject`. */
export function cutJsonArray(text: string): string[] {
  const elements: string[] = [];
  new Scanner(text).scanElements(({ start, end }) => elements.push(text.slice(start, end)));
  return elements;
}

/** Whether the outcome of a scan is a problem. */
export function isJsonProblem(outcome: JsonMembers | JsonProblem): outcome is JsonProblem {
  return "kind" in outcome;
}

class ScanFailure extends Error {
  readonly kind: JsonProblem["kind"];
  readonly position: number;

  constructor(kind: JsonProblem["kind"], position: number) {
    super(kind);
    this.kind = kind;
    this.position = position;
  }
}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scanRoot(cut: ArrayCut | undefined): JsonMembers {
    const members = new Map<string, string>();
    this.#skipSpace();
    if (this.#code() !== OPEN_OBJECT) {
      const start = this.#at;
      this.#scanValue(1);
      this.#scanEnd();
      throw new ScanFailure("type", start);
    }
    this.#scanObject(1, (name) => {
      const start = this.#at;
      if (name === cut?.member) this.#scanCut(cut);
      else this.#scanValue(2);
      members.set(name, this.#text.slice(start, this.#at));
    });
    this.#scanEnd();
    return members;
  }

  scanElements(onElement: (span: Span) => void): void {
    this.#skipSpace();
    this.#scanArray(1, onElement);
  }

  #scanCut({ onArray, onElement }: ArrayCut): void {
    onArray();
    if (this.#code() === OPEN_ARRAY) this.#scanArray(2, onElement);
    else this.#scanValue(2);
  }

  #scanEnd(): void {
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail();
  }

  #scanValue(depth: number): void {
    const code = this.#code();
    if (code === QUOTE) this.#scanString();
    else if (code === OPEN_OBJECT) this.#scanObject(depth);
    else if (code === OPEN_ARRAY) this.#scanArray(depth);
    else if (!this.#take(NUMBER) && !this.#take(LITERAL)) this.#fail();
  }

  /** @param scanMember scans the value of a member itself */
  #scanObject(depth: number, scanMember?: (name: string) => void): void {
    this.#enter(depth);
    if (this.#takeCode(CLOSE_OBJECT)) return;
    for (;;) {
      const nameStart = this.#at;
      if (this.#code() !== QUOTE) this.#fail();
      this.#scanString();
      const nameEnd = this.#at;
      this.#skipSpace();
      if (!this.#skipOver(COLON)) this.#fail();
      if (scanMember === undefined) this.#scanValue(depth + 1);
      else scanMember(String(JSON.parse(this.#text.slice(nameStart, nameEnd))));
      this.#skipSpace();
      if (this.#takeCode(CLOSE_OBJECT)) return;
      if (!this.#skipOver(COMMA)) this.#fail();
    }
  }

  #scanArray(depth: number, onElement?: (span: Span) => void): void {
    this.#enter(depth);
    if (this.#takeCode(CLOSE_ARRAY)) return;
    for (;;) {
      const start = this.#at;
      this.#scanValue(depth + 1);
      onElement?.({ start, end: this.#at });
      this.#skipSpace();
      if (this.#takeCode(CLOSE_ARRAY)) return;
      if (!this.#skipOver(COMMA)) this.#fail();
    }
  }

  #enter(depth: number): void {
    if (depth > NESTING_MAX) throw new ScanFailure("depth", this.#at);
    this.#at += 1;
    this.#skipSpace();
  }

  #scanString(): void {
    this.#at += 1;
    for (;;) {
      this.#take(STRING_CHUNK);
      const code = this.#code();
      if (code === QUOTE) {
        this.#at += 1;
        return;
      }
      if (code !== BACKSLASH) this.#fail();
      this.#scanEscape();
    }
  }

  #scanEscape(): void {
    const start = this.#at;
    const letter = this.#text.charAt(start + 1);
    this.#at += 2;
    if (letter === "u") {
      const unit = this.#scanHex4();
      if (unit === 0 || isLowSurrogate(unit)) throw new ScanFailure("text", start);
      if (isHighSurrogate(unit)) this.#scanLowSurrogate(start);
    } else if (letter === "" || !SIMPLE_ESCAPES.includes(letter)) {
      this.#at = Math.min(start + 1, this.#text.length);
      this.#fail();
    }
  }

  /** An escaped high surrogate needs an escaped low one, because decoded UTF-8 holds no halves. */
  #scanLowSurrogate(start: number): void {
    if (!this.#text.startsWith("\\u", this.#at)) throw new ScanFailure("text", start);
    this.#at += 2;
    if (!isLowSurrogate(this.#scanHex4())) throw new ScanFailure("text", start);
  }

  #scanHex4(): number {
    const digits = this.#text.slice(this.#at, this.#at + 4);
    if (!this.#take(HEX4)) this.#fail();
    return Number.parseInt(digits, 16);
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #takeCode(code: number): boolean {
    if (this.#code() !== code) return false;
    this.#at += 1;
    return true;
  }

  #skipOver(code: number): boolean {
    if (!this.#takeCode(code)) return false;
    this.#skipSpace();
    return true;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#code();
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }

  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  #fail(): never {
    throw new ScanFailure("syntax", this.#at);
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
