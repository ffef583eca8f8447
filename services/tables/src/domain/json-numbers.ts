import { isJsonObject } from "./json-object.ts";
import type { Place } from "./problems.ts";

/** Up to it each integer is a double of its own. */
const INTEGER_MAX = 2 ** 53;
/** From it on JavaScript prints doubles with an exponent. */
const EXPONENT_MIN = 1e21;

const MESSAGE =
  `is a number that would not be kept as it is: integers go from -${INTEGER_MAX} to ${INTEGER_MAX}; ` +
  "larger ones can be strings";

/**
 * Reports the numbers of a JSON text that do not survive as doubles (D5): infinite ones, and integers
 * beyond 2^53. Larger numbers pass when they are written with an exponent, and when JavaScript would
 * write them so too: what it prints as an integer could not be sent back.
 *
 * `value` is what the text parses to.
 */
export function reportLostNumbers(text: string, value: unknown, place: Place): void {
  if (!hasLargeNumber(value)) return;
  const marked: unknown = JSON.parse(text, (_key, item: unknown, context?: { source?: string }) =>
    typeof item === "number" && isLost(item, context?.source ?? String(item)) ? LOST : item,
  );
  reportMarks(marked, place);
}

/** Stands where a number was lost. No JSON value is a symbol. */
const LOST = Symbol("lost number");

/** Few texts have a large number, so that only those are parsed again for the digits written. */
function hasLargeNumber(value: unknown): boolean {
  if (typeof value === "number") return Math.abs(value) >= INTEGER_MAX;
  if (typeof value !== "object" || value === null) return false;
  const items: unknown[] = Object.values(value);
  return items.some(hasLargeNumber);
}

function isLost(value: number, source: string): boolean {
  const size = Math.abs(value);
  if (size < INTEGER_MAX) return false;
  // What is read as 2^53 may have been a neighbour.
  if (size === INTEGER_MAX) return significantDigits(source) !== String(INTEGER_MAX);
  return size === Infinity || size < EXPONENT_MIN || !/[.e]/i.test(source);
}

function significantDigits(source: string): string {
  return source
    .replace(/e.*$/i, "")
    .replaceAll(/[-.]/g, "")
    .replaceAll(/^0+|0+$/g, "");
}

function reportMarks(value: unknown, place: Place): void {
  if (value === LOST) place.report(MESSAGE);
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) reportMarks(item, place.at(String(index)));
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) reportMarks(item, place.at(key));
  }
}
