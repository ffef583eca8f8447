import { isJsonObject, jsonEquals } from "@workflow/json";
import { parseIsoTime } from "./iso-time.ts";
import { compilePattern } from "./pattern.ts";
import type { PatternMeter } from "./pattern.ts";
import { TemplateError } from "./template-error.ts";

/** The operators of D18 that compare two values. */
export const BINARY_OPERATORS = [
  "equals",
  "not_equals",
  "contains",
  "not_contains",
  "starts_with",
  "ends_with",
  "greater_than",
  "greater_than_or_equal",
  "less_than",
  "less_than_or_equal",
  "in",
  "matches",
] as const;
export type BinaryOperator = (typeof BINARY_OPERATORS)[number];

/** The operators of D18 that look at one value. */
export const UNARY_OPERATORS = ["exists", "is_empty", "is_not_empty"] as const;
export type UnaryOperator = (typeof UNARY_OPERATORS)[number];

/**
 * Compares two JSON values. Values that the operator cannot compare give false, for negated operators too
 * (D18). Only `not_equals` compares any two.
 *
 * @param options.meter the steps that patterns may still take
 * @throws TemplateError PATTERN_TOO_EXPENSIVE where a pattern would take more
 */
export function compareValues(
  operator: BinaryOperator,
  left: unknown,
  right: unknown,
  { ignoreCase, meter }: { ignoreCase: boolean; meter: PatternMeter },
): boolean {
  switch (operator) {
    case "equals":
      return areEqual(left, right, ignoreCase);
    case "not_equals":
      return !areEqual(left, right, ignoreCase);
    case "contains":
      return isMember(right, left, ignoreCase) ?? false;
    case "not_contains":
      return !(isMember(right, left, ignoreCase) ?? true);
    case "in":
      return isMember(left, right, ignoreCase) ?? false;
    case "starts_with":
      return areTexts(left, right) && fold(left, ignoreCase).startsWith(fold(right, ignoreCase));
    case "ends_with":
      return areTexts(left, right) && fold(left, ignoreCase).endsWith(fold(right, ignoreCase));
    case "greater_than":
      return order(left, right) > 0;
    case "greater_than_or_equal":
      return order(left, right) >= 0;
    case "less_than":
      return order(left, right) < 0;
    case "less_than_or_equal":
      return order(left, right) <= 0;
    case "matches":
      return doesMatch(left, right, ignoreCase, meter);
    default:
      return operator satisfies never;
  }
}

/** Tests one JSON value. A missing path gives null, so null does not exist. */
export function testValue(operator: UnaryOperator, value: unknown): boolean {
  switch (operator) {
    case "exists":
      return value !== null && value !== undefined;
    case "is_empty":
      return isEmpty(value);
    case "is_not_empty":
      return !isEmpty(value);
    default:
      return operator satisfies never;
  }
}

function areTexts(left: unknown, right: unknown): boolean {
  return typeof left === "string" && typeof right === "string";
}

function fold(value: unknown, ignoreCase: boolean): string {
  const text = typeof value === "string" ? value : "";
  return ignoreCase ? text.toLowerCase() : text;
}

function areEqual(left: unknown, right: unknown, ignoreCase: boolean): boolean {
  if (ignoreCase && areTexts(left, right)) return fold(left, true) === fold(right, true);
  return jsonEquals(left ?? null, right ?? null);
}

/**
 * Whether a value contains another: as item of an array, part of a text, or key of an object. Null for other
 * values.
 */
function isMember(item: unknown, container: unknown, ignoreCase: boolean): boolean | null {
  if (Array.isArray(container)) {
    return container.some((member: unknown) => areEqual(member, item, ignoreCase));
  }
  if (typeof item !== "string") return null;
  if (typeof container === "string") {
    return fold(container, ignoreCase).includes(fold(item, ignoreCase));
  }
  if (!isJsonObject(container)) return null;
  if (!ignoreCase) return Object.hasOwn(container, item);
  return Object.keys(container).some((key) => fold(key, true) === fold(item, true));
}

/** Negative, zero or positive as left is before, equal to or after right. NaN when the two have no order. */
function order(left: unknown, right: unknown): number {
  if (typeof left === "number" && typeof right === "number") return compareNumbers(left, right);
  if (typeof left !== "string" || typeof right !== "string") return Number.NaN;
  const leftTime = parseIsoTime(left);
  const rightTime = parseIsoTime(right);
  if (leftTime === undefined || rightTime === undefined) return Number.NaN;
  return leftTime - rightTime;
}

/** No subtraction: two infinities (1e999 in JSON) would give NaN. */
function compareNumbers(left: number, right: number): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** An invalid pattern matches nothing. */
function doesMatch(
  text: unknown,
  source: unknown,
  ignoreCase: boolean,
  meter: PatternMeter,
): boolean {
  if (typeof text !== "string" || typeof source !== "string") return false;
  const compiled = compilePattern(source, ignoreCase, meter);
  if (!compiled.ok) {
    if (compiled.isTooLarge) throw tooExpensive(compiled.message);
    return false;
  }
  const matches = compiled.pattern.test(text, meter);
  if (matches === null) {
    throw tooExpensive(
      "the patterns of the condition are too large for the texts they are to match",
    );
  }
  return matches;
}

function tooExpensive(reason: string): TemplateError {
  return new TemplateError(
    "PATTERN_TOO_EXPENSIVE",
    `A pattern of the condition is not tried: ${reason}.`,
  );
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
