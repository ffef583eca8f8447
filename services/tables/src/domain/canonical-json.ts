import { isJsonObject } from "@workflow/json";

/**
 * JSON that is equal for equal values. Members are sorted by the code units of their keys, and numbers are printed
 * as JavaScript prints them (1.0 as 1, -0 as 0). The function accepts what `JSON.parse` returns.
 */
export function canonicalJson(value: unknown): string {
  // Most values are in order already. Checking that costs far less than writing a value member by member.
  return isInOrder(value) ? JSON.stringify(value) : inOrder(value);
}

/** Whether the members of all objects stand in the order of their keys. */
function isInOrder(value: unknown): boolean {
  // The check stands before the call because most items are no containers.
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

/**
 * Text is built directly. Objects with sorted members would not do, since JavaScript puts keys like "10" before all
 * others.
 */
function inOrder(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOrder).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${inOrder(value[key])}`);
  return `{${members.join(",")}}`;
}
