import { textOf } from "../domain/cell-text.ts";

/**
 * The UTF-16 units of a value's text that a vector keeps. No operand of an exact list is longer. The cut part
 * matters only to operators that search a text or compare its end.
 */
export const KEPT_UNITS = 2_000;

/** A value that is not blank, as a vector keeps it. */
export interface StoredValue {
  /** The text of the value (`textOf`), at most KEPT_UNITS of it. */
  readonly text: string;
  /** Whether the value is a string. The text of any other value is its canonical JSON. */
  readonly isString: boolean;
  /** Whether the text was cut. */
  readonly long: boolean;
}

/**
 * The kept part of a value that was too large to be held as a whole. Vectors accept it like the value.
 */
export class CutValue implements StoredValue {
  readonly text: string;
  readonly isString: boolean;
  readonly long: boolean;

  constructor({ text, isString, long }: StoredValue) {
    this.text = text;
    this.isString = isString;
    this.long = long;
  }
}

/** The kept form of a value that is not blank. */
export function storedValue(value: unknown): StoredValue {
  if (value instanceof CutValue) return value;
  const whole = textOf(value);
  const text = keptText(whole);
  return { text, isString: typeof value === "string", long: text.length < whole.length };
}

/** The kept part of an object or array. */
export function cutObject(value: object): CutValue {
  return new CutValue(storedValue(value));
}

/** The kept part of a text. */
export function keptText(text: string): string {
  return text.length > KEPT_UNITS ? copyOfStart(text) : text;
}

/**
 * The canonical JSON of a value. For a cut value it is that of the beginning, which equals no operand.
 */
export function jsonOf({ text, isString }: StoredValue): string {
  return isString ? JSON.stringify(text) : text;
}

/** The value as JSON; null when it is too large to be an operand of an exact list. */
export function tellableJson(value: StoredValue): string | null {
  if (value.long) return null;
  const json = jsonOf(value);
  return json.length > KEPT_UNITS ? null : json;
}

/** The estimated memory of a string: a header, and a byte or two for each unit. */
export function bytesOf(text: string): number {
  return STRING_HEADER_BYTES + (BEYOND_LATIN1.test(text) ? 2 * text.length : text.length);
}

const STRING_HEADER_BYTES = 16;
const BEYOND_LATIN1 = /[^\0-\u00ff]/;

/** A slice would keep the whole string alive. */
function copyOfStart(text: string): string {
  return Buffer.from(text.slice(0, KEPT_UNITS), "utf16le").toString("utf16le");
}
