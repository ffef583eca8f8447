import { z } from "zod";
import type { ActionInput } from "./action-input.ts";

/**
 * The items of arrays and members of objects that the inputs of one call may have together, where each is
 * checked. A wrong entry costs some 5 µs in one go.
 */
export const INPUT_ENTRIES_MAX = 10_000;

/** The key of the input that exceeds the limit; undefined when all entries can be checked. */
export function findOversizedInput(
  fields: readonly ActionInput[],
  inputs: Readonly<Record<string, unknown>>,
): string | undefined {
  let left = INPUT_ENTRIES_MAX;
  return fields.find(({ key, schema }) => {
    if (!Object.hasOwn(inputs, key) || takesAnything(schema)) return false;
    left -= countEntries(inputs[key], left);
    return left < 0;
  })?.key;
}

/** Whether a schema checks no entry. */
function takesAnything(schema: z.ZodType): boolean {
  if (schema instanceof z.ZodRecord) return schema.valueType instanceof z.ZodUnknown;
  return schema instanceof z.ZodUnknown;
}

/** Counts entries and stops beyond `most`, without recursion. */
function countEntries(root: unknown, most: number): number {
  let count = 0;
  const pending = [root];
  while (pending.length > 0 && count <= most) {
    const value = pending.pop();
    if (typeof value !== "object" || value === null) continue;
    const entries: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    count += entries.length;
    if (count <= most) pending.push(...entries);
  }
  return count;
}
