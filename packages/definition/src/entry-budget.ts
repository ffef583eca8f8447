import { z } from "zod";

/**
 * The entries of arrays and objects that one value may have where each entry is checked. A wrong entry costs
 * some 10 µs in one go: 250,000 of them blocked the process for 2.8 s.
 */
export const ENTRIES_MAX = 2_000;

/** The path at which a value has too many entries to check; null when all can be checked. */
export function findOversized(schema: z.ZodType, value: unknown): string[] | null {
  return walk(schema, value, [], { left: ENTRIES_MAX });
}

function walk(
  schema: z.core.$ZodType,
  value: unknown,
  path: readonly string[],
  budget: { left: number },
): string[] | null {
  if (typeof value !== "object" || value === null) return null;
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  ) {
    return walk(schema.unwrap(), value, path, budget);
  }
  if (schema instanceof z.ZodUnion) return walkLargest(schema.options, value, path, budget);
  if (schema instanceof z.ZodArray) {
    return Array.isArray(value) ? walkEntries(schema.element, value, path, budget) : null;
  }
  if (schema instanceof z.ZodRecord) return walkEntries(schema.valueType, value, path, budget);
  if (!(schema instanceof z.ZodObject)) return null;
  for (const [name, field] of Object.entries(schema.shape)) {
    if (!Object.hasOwn(value, name)) continue;
    const found = walk(field, Reflect.get(value, name), [...path, name], budget);
    if (found !== null) return found;
  }
  return null;
}

/** A union checks every entry that one of its members checks. */
function walkLargest(
  members: readonly z.core.$ZodType[],
  value: unknown,
  path: readonly string[],
  budget: { left: number },
): string[] | null {
  const { left } = budget;
  let least = left;
  for (const member of members) {
    budget.left = left;
    const found = walk(member, value, path, budget);
    if (found !== null) return found;
    least = Math.min(least, budget.left);
  }
  budget.left = least;
  return null;
}

function walkEntries(
  schema: z.core.$ZodType,
  value: object,
  path: readonly string[],
  budget: { left: number },
): string[] | null {
  // Entries without a schema cannot be wrong.
  if (schema instanceof z.ZodUnknown) return null;
  budget.left -= Array.isArray(value) ? value.length : Object.keys(value).length;
  if (budget.left < 0) return [...path];
  for (const [key, entry] of Object.entries(value)) {
    const found = walk(schema, entry, [...path, key], budget);
    if (found !== null) return found;
  }
  return null;
}
