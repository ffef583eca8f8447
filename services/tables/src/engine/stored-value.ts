import { textOf } from "../domain/cell-text.ts";

/**
 * Units (UTF-16) of a value's text that a vector keeps. Operands of exact lists are no longer than this,
 * so what is cut off can only matter to operators that look inside or at the end of a text.
 */
export const KEPT_UNITS = 2_000;

/** A value that is not blank, in the form in which a vector keeps it. */
export interface StoredValue {
  /** Its text (`textOf`), at most KEPT_UNITS of it. */
  readonly text: string;
  /** Whether it is a string; else its text is its canonical JSON. */
  readonly isString: boolean;
  /** Whether its text goes on. */
  readonly long: boolean;
}

/** What vectors keep of a value that was too large to be held as a whole; they take it like the value. */
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

/** The form to keep of a value that is not blank. */
export function storedValue(value: unknown): StoredValue {
  if (value instanceof CutValue) return value;
  const whole = textOf(value);
  const text = keptText(whole);
  return { text, isString: typeof value === "string", long: text.length < whole.length };
}

/** An object or array without what no vector keeps of it. */
export function cutObject(value: object): CutValue {
  return new CutValue(storedValue(value));
}

/** What is kept of a text. */
export function keptText(text: string): string {
  return text.length > KEPT_UNITS ? copyOfStart(text) : text;
}

/** Canonical JSON of a value; of a long one that of its beginning, which equals no operand. */
export function jsonOf({ text, isString }: StoredValue): string {
  return isString ? JSON.stringify(text) : text;
}

/** The value as JSON; null when it is too large to be an operand of an exact list. */
export function tellableJson(value: StoredValue): string | null {
  if (value.long) return null;
  const json = jsonOf(value);
  return json.length > KEPT_UNITS ? null : json;
}

/** Estimate of what a string occupies: a header, and a byte or two for each unit. */
export function bytesOf(text: string): number {
  return STRING_HEADER_BYTES + (BEYOND_LATIN1.test(text) ? 2 * text.length : text.length);
}

const STRING_HEADER_BYTES = 16;
const BEYOND_LATIN1 = /[^\0-\u00ff]/;

/** A slice would keep the whole string alive. */
function copyOfStart(text: string): string {
  return Buffer.from(text.slice(0, KEPT_UNITS), "utf16le").toString("utf16le");
}
