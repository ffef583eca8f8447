import { describeKind } from "@workflow/catalog";
import { createHash } from "node:crypto";
import type { Violation } from "@workflow/errors";
import { isJsonObject, measureJson, ownProperty } from "@workflow/json";
import type { SchemaObject, ValidateFunction } from "ajv";
import { LRUCache } from "lru-cache";
import {
  TooExpensiveError,
  WORK_ALL_ERRORS_MAX,
  WORK_MAX,
  canonicalJson,
  createAjv,
} from "./budgeted-ajv.ts";
import type { BudgetedAjv, Draft } from "./budgeted-ajv.ts";
import { schemaErrorMessage, schemaErrorPath } from "./json-schema-messages.ts";
import { DATA_KEYWORDS, explainUnusable, NAMING_KEYWORDS } from "./json-schema-places.ts";
import { DEFINITION_LIMITS } from "./limits.ts";
import { checkAgainstDraft } from "./meta-schema.ts";
import { estimatePatternSize } from "./pattern-size.ts";

/** A compiled schema, which checks values. */
export interface JsonSchemaValidator {
  /** An upper estimate of its memory, in bytes. */
  readonly bytes: number;
  /** The violations of a value, at most 50; empty when the value is valid. Never throws. */
  validate(value: unknown): Violation[];
}

export type JsonSchemaResult =
  ({ ok: true } & JsonSchemaValidator) | { ok: false; violations: Violation[] };

/**
 * Compiled schemas by the hash of their canonical text. Equal schemas of different tenants share code only.
 */
const compiledSchemas = new LRUCache<string, JsonSchemaResult>({ maxSize: 64 * 1024 * 1024 });

/**
 * The memory of two ajv instances with their formats, and the memory of the code for one part of a schema.
 * Measured: 1 to 5 KiB a part.
 */
const BYTES_EACH = 96 * 1024;
const BYTES_PER_PART = 5 * 1024;
const BYTES_PER_CHAR = 2;

/**
 * Compiles a JSON Schema that a caller wrote: draft 2020-12, or draft-07 when `$schema` names it or `items`
 * is a list. Neither the schema nor a value can take much time: patterns are RE2's, each validation has a
 * work budget, and references stay inside the schema. Never throws.
 */
export function compileJsonSchema(schema: unknown): JsonSchemaResult {
  const shapeProblem = findShapeProblem(schema);
  if (shapeProblem !== null) return refuse([], shapeProblem);
  if (!isJsonObject(schema)) return refuse([], "must be an object");
  const text = canonicalJson(schema);
  const key = createHash("sha256").update(text).digest("base64");
  const known = compiledSchemas.get(key);
  if (known !== undefined) return known;
  const result = compileAnew(schema, text.length);
  compiledSchemas.set(key, result, { size: result.ok ? result.bytes : BYTES_PER_REFUSAL });
  return result;
}

/** Fifty violations. */
const BYTES_PER_REFUSAL = 16 * 1024;

function refuse(path: string[], message: string): JsonSchemaResult {
  return { ok: false, violations: [{ path, message }] };
}

function findShapeProblem(schema: unknown): string | null {
  if (!isJsonObject(schema)) {
    return `must be a JSON Schema, which is an object, not ${describeKind(schema)}`;
  }
  const { jsonSchemaBytesMax, jsonSchemaDepthMax, jsonSchemaPartsMax } = DEFINITION_LIMITS;
  if (isDeeperThan(schema, jsonSchemaDepthMax)) {
    return `a JSON Schema nests at most ${jsonSchemaDepthMax} deep`;
  }
  if (measureJson(schema, jsonSchemaBytesMax) > jsonSchemaBytesMax) {
    return `a JSON Schema has at most ${jsonSchemaBytesMax / 1024} KiB`;
  }
  if (countSchemaParts(schema) > jsonSchemaPartsMax) {
    return `a JSON Schema has at most ${jsonSchemaPartsMax} objects, arrays and booleans outside enum, const, default and examples`;
  }
  return null;
}

/**
 * The parts that make ajv's generated code long. With some thousands compiling takes seconds or overflows the
 * stack. The value must not nest deeper than the JSON of a definition may.
 */
export function countSchemaParts(schema: unknown): number {
  return countParts(schema);
}

/** The size of all patterns of a schema together; a lower bound for an invalid schema. */
export function estimateSchemaPatterns(schema: unknown): number {
  if (Array.isArray(schema)) {
    return schema.reduce<number>((sum, item) => sum + estimateSchemaPatterns(item), 0);
  }
  if (!isJsonObject(schema)) return 0;
  let sum = 0;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "pattern" && typeof value === "string") sum += estimatePatternSize(value);
    if (key === "patternProperties" && isJsonObject(value)) {
      for (const pattern of Object.keys(value)) sum += estimatePatternSize(pattern);
    }
    if (!DATA_KEYWORDS.has(key)) sum += estimateSchemaPatterns(value);
  }
  return sum;
}

function countParts(value: unknown, keysAreNames = false): number {
  if (typeof value === "boolean") return 1;
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, item) => sum + countParts(item), 1);
  }
  if (!isJsonObject(value)) return 0;
  return Object.keys(value)
    .filter((key) => keysAreNames || !DATA_KEYWORDS.has(key))
    .reduce(
      (sum, key) => sum + countParts(value[key], !keysAreNames && NAMING_KEYWORDS.has(key)),
      1,
    );
}

function isDeeperThan(value: unknown, depthMax: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depthMax === 0) return true;
  return Object.values(value).some((item: unknown) => isDeeperThan(item, depthMax - 1));
}

const DRAFTS: readonly [pattern: RegExp, draft: Draft][] = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, "2020-12"],
  [/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/, "draft-07"],
];

function findDraft(schema: SchemaObject): Draft | undefined {
  const named = ownProperty(schema, "$schema");
  if (named === undefined) return "2020-12";
  return DRAFTS.find(([pattern]) => typeof named === "string" && pattern.test(named))?.[1];
}

function compileAnew(schema: SchemaObject, chars: number): JsonSchemaResult {
  const draft = findDraft(schema);
  if (draft === undefined) {
    return refuse(
      ["$schema"],
      "must be https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#",
    );
  }
  // An asynchronous schema makes ajv return a promise.
  if (Object.hasOwn(schema, "$async")) return refuse(["$async"], "is not a JSON Schema keyword");
  const result = compileAs(schema, draft, chars);
  if (result.ok || Object.hasOwn(schema, "$schema")) return result;
  // Drafts before 2020-12 write tuples as a list of `items`, and many callers still do.
  const onlyTuples = result.violations.every(({ path }) => path.at(-1) === "items");
  return onlyTuples ? compileAs(schema, "draft-07", chars) : result;
}

function compileAs(schema: SchemaObject, draft: Draft, chars: number): JsonSchemaResult {
  const violations = checkAgainstDraft(schema, draft, chars);
  if (violations.length > 0) return { ok: false, violations };
  try {
    const bytes = BYTES_EACH + BYTES_PER_PART * countParts(schema) + BYTES_PER_CHAR * chars;
    return { ok: true, bytes, validate: compileValidate(schema, draft) };
  } catch (error) {
    const { path, message } = explainUnusable(schema, error);
    return refuse(path, `is not a usable JSON Schema: ${message}`);
  }
}

/** Checks with the larger budget first. All violations are listed afterwards, and only when that is cheap. */
function compileValidate(schema: SchemaObject, draft: Draft): JsonSchemaValidator["validate"] {
  const findFirst = compileWith(createAjv(draft, false), schema, WORK_MAX);
  let findAll: FindViolations | undefined;
  return (value) => {
    const found = findFirst(value);
    if (found === null) {
      return [{ path: [], message: "is too large or too deep to be checked against the schema" }];
    }
    if (found.length === 0) return [];
    findAll ??= compileWith(createAjv(draft, true), schema, WORK_ALL_ERRORS_MAX);
    return findAll(value) ?? found;
  };
}

/** Null when the budget was too small. */
type FindViolations = (value: unknown) => Violation[] | null;

function compileWith(
  { ajv, meter }: BudgetedAjv,
  schema: SchemaObject,
  workMax: number,
): FindViolations {
  const validate = ajv.compile(schema);
  return (value) => {
    meter.reset(workMax);
    try {
      if (validate(value)) return [];
    } catch (error) {
      // A RangeError means circular references that never descend into the value.
      if (error instanceof TooExpensiveError || error instanceof RangeError) return null;
      throw error;
    } finally {
      meter.reset(0);
    }
    return toViolations(validate.errors);
  };
}

/** Removes duplicates: several branches of a schema may find one violation. */
function toViolations(errors: ValidateFunction["errors"]): Violation[] {
  const found = new Map<string, Violation>();
  for (const error of errors ?? []) {
    if (found.size >= DEFINITION_LIMITS.violationsMax) break;
    const violation = { path: schemaErrorPath(error), message: schemaErrorMessage(error) };
    const key = JSON.stringify(violation);
    if (!found.has(key)) found.set(key, violation);
  }
  return [...found.values()];
}
