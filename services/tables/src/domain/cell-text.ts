import { canonicalJson } from "./canonical-json.ts";

/** Whether a row has no value here: missing, null or an empty string. */
export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/**
 * What a value looks like as text, in search, order, conditions and as a label: strings as they are, of
 * the rest the canonical JSON, so that equal values have one text. Empty for null and a missing value.
 */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : canonicalJson(value);
}
