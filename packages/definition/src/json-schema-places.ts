import type { Violation } from "@workflow/errors";
import { isJsonObject } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import { MissingRefError } from "ajv";
import { UnusablePatternError } from "./budgeted-ajv.ts";

/** Keywords for whose value ajv generates no code. */
export const DATA_KEYWORDS: ReadonlySet<string> = new Set(["enum", "const", "default", "examples"]);
/** Keywords whose value has names of the caller as its keys; such a name may be `enum`, too. */
export const NAMING_KEYWORDS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
]);

/** A part of a schema that ajv cannot compile: its place, where known, and the reason. */
export function explainUnusable(schema: JsonObject, error: unknown): Violation {
  if (error instanceof RangeError) {
    return { path: [], message: "its references lead round in a circle, or it nests too deeply" };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { path: findPlace(schema, isCulprit(error)) ?? [], message };
}

/** A member of a schema: its keyword, or a name in a keyword's place. */
type Test = (key: string, value: unknown, parentKey: string | undefined) => boolean;

function isCulprit(error: unknown): Test {
  if (error instanceof UnusablePatternError) {
    const { source } = error;
    return (key, value, parent) =>
      parent === "patternProperties" ? key === source : key === "pattern" && value === source;
  }
  if (error instanceof MissingRefError) {
    // ajv resolves the reference to an absolute one in a schema with an $id.
    const { missingRef } = error;
    return (key, value) =>
      (key === "$ref" || key === "$dynamicRef") &&
      typeof value === "string" &&
      (value === missingRef || error.message.includes(` ${value} `) || missingRef.endsWith(value));
  }
  return () => false;
}

/** The path to the first member that matches. Recursion is safe, since the depth was checked before. */
function findPlace(
  value: unknown,
  test: Test,
  path: readonly string[] = [],
  naming?: string,
): string[] | null {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const found = findPlace(item, test, [...path, String(index)]);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isJsonObject(value)) return null;
  for (const key of Object.keys(value)) {
    const place = [...path, key];
    if (test(key, value[key], naming)) return place;
    if (naming === undefined && DATA_KEYWORDS.has(key)) continue;
    const inner = naming === undefined && NAMING_KEYWORDS.has(key) ? key : undefined;
    const found = findPlace(value[key], test, place, inner);
    if (found !== null) return found;
  }
  return null;
}
