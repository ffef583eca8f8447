import { isJsonObject } from "./json-object.ts";

/**
 * JSON that is the same for values that are the same: members sorted by their keys' code units,
 * numbers as JavaScript prints them (1.0 as 1, -0 as 0). Takes what `JSON.parse` returns.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(",")}}`;
}
