import { canonicalJson } from "../domain/canonical-json.ts";
import { textOf } from "../domain/cell-text.ts";
import { isJsonObject } from "../domain/json-object.ts";

/**
 * Units (UTF-16) of a value's text that a vector keeps. Operands of exact lists are no longer than this,
 * so what is cut off can only matter to operators that look inside or at the end of a text.
 */
export const KEPT_UNITS = 2_000;

/** A value that is not blank, in the form in which a vector keeps it. */
export interface StoredValue {
  /** Its text (`textOf`), at most KEPT_UNITS of it. */
  readonly text: string;
  /** Whether it is a string; else its text is its JSON. */
  readonly isString: boolean;
  /** Whether its text goes on. */
  readonly long: boolean;
  /** Of what is no string: its canonical JSON; the text itself when that is the same. */
  readonly canonical: string;
}

/** The form to keep of a value that is not blank. */
export function storedValue(value: unknown): StoredValue {
  const isString = typeof value === "string";
  const whole = isString ? value : textOf(value);
  const long = whole.length > KEPT_UNITS;
  const text = long ? copyOfStart(whole) : whole;
  const canonical = isString || long || isInOrder(value) ? text : canonicalJson(value);
  return { text, isString, long, canonical: canonical === text ? text : canonical };
}

/** Canonical JSON of a value; of a long one that of its beginning, which equals no operand. */
export function canonicalOf({ text, isString, canonical }: StoredValue): string {
  return isString ? JSON.stringify(text) : canonical;
}

/** The value as JSON; null when it is too large to be an operand of an exact list. */
export function tellableJson({ text, isString, long }: StoredValue): string | null {
  if (long) return null;
  const json = isString ? JSON.stringify(text) : text;
  return json.length > KEPT_UNITS ? null : json;
}

/** Estimate of what a string occupies: a header, and a byte or two for each unit. */
export function bytesOf(text: string): number {
  return STRING_HEADER_BYTES + (BEYOND_LATIN1.test(text) ? 2 * text.length : text.length);
}

const STRING_HEADER_BYTES = 16;
const BEYOND_LATIN1 = /[^\0-\u00ff]/;

/** Whether the members of all objects stand in the order of their keys, as in canonical JSON. */
function isInOrder(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isInOrder);
  if (!isJsonObject(value)) return true;
  let before = "";
  for (const key of Object.keys(value)) {
    if (key < before || !isInOrder(value[key])) return false;
    before = key;
  }
  return true;
}

/** A slice would keep the whole string alive. */
function copyOfStart(text: string): string {
  return Buffer.from(text.slice(0, KEPT_UNITS), "utf16le").toString("utf16le");
}
