import { canonicalJson } from "./canonical-json.ts";

/** Whether a row has no value here: the value is missing, null or an empty string. */
export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/**
 * The text of a value in searches, orders, conditions and labels. A string is its own text, and any other value has
 * its canonical JSON, so equal values have one text. The text of null and of a missing value is empty.
 */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : canonicalJson(value);
}
