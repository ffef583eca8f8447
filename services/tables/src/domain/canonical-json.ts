import { isJsonObject } from "@workflow/json";

/**
 * JSON that is the same for values that are the same: members sorted by their keys' code units,
 * numbers as JavaScript prints them (1.0 as 1, -0 as 0). Takes what `JSON.parse` returns.
 */
export function canonicalJson(value: unknown): string {
  // Most are in order already, and to see that costs far less than to write them member by member.
  return isInOrder(value) ? JSON.stringify(value) : inOrder(value);
}

/** Whether the members of all objects stand in the order of their keys. */
function isInOrder(value: unknown): boolean {
  // Asked before the call: most items are no containers.
  if (Array.isArray(value))
    return value.every((item) => typeof item !== "object" || isInOrder(item));
  if (!isJsonObject(value)) return true;
  let before = "";
  for (const key of Object.keys(value)) {
    if (key < before) return false;
    before = key;
    const item = value[key];
    if (typeof item === "object" && !isInOrder(item)) return false;
  }
  return true;
}

/** Not by objects with their members in order: they would put keys like "10" by number before all others. */
function inOrder(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOrder).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${inOrder(value[key])}`);
  return `{${members.join(",")}}`;
}
