import {
  compileJsonSchema,
  countSchemaParts,
  DEFINITION_LIMITS,
  isDecidingKeyword,
  NAMING_KEYWORDS,
} from "@workflow/definition";
import type { Violation } from "@workflow/errors";
import { isJsonObject } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import { AgentInputError } from "../agent-input-error.ts";

/** The path of the member that has to fit the caller's schema. */
const PLACE: readonly string[] = ["properties", "data"];

/** Members that move to the top of the answer's schema, so that references to them stay valid. */
const HOISTED = ["$schema", "$defs", "definitions"];

/** Keywords whose value holds no schema. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(["enum", "const"]);

const REFERENCES: ReadonlySet<string> = new Set(["$ref", "$dynamicRef"]);

/** The limit of a schema, because each question pays for it in tokens and in the model's attention. */
const SCHEMA_CHARS_MAX = 65_536;

/**
 * Makes the schema of an answer whose `data` has to fit a caller's schema. References in that schema
 * stay valid. Only validating keywords are kept: the schema is input, and providers show it to the
 * model among instructions.
 *
 * @param answer the schema of the answer, with any `data`
 * @param variable the caller's name for the schema
 * @throws AgentInputError when the schema can't be used; paths lead into the caller's schema
 */
export function embedSchema(answer: JsonObject, schema: JsonObject, variable: string): JsonObject {
  const tooLarge = findTooLarge(schema);
  if (tooLarge !== null) throw refusal(variable, [{ path: [], message: tooLarge }]);
  const hasBase = isBase(schema);
  const moved = hasBase ? ["$schema"] : HOISTED;
  const bare = withoutWords(schema, { moves: !hasBase, named: namesInReferences(schema) });
  const own = Object.entries(bare).filter(([key]) => !moved.includes(key));
  const top = Object.entries(bare).filter(([key]) => moved.includes(key));
  const embedded = {
    ...Object.fromEntries(top),
    ...answer,
    properties: { ...propertiesOf(answer), data: Object.fromEntries(own) },
  };
  const compiled = compileJsonSchema(embedded);
  if (!compiled.ok) throw refusal(variable, compiled.violations.map(inCallersSchema));
  return embedded;
}

function findTooLarge(schema: JsonObject): string | null {
  const { jsonSchemaPartsEachMax } = DEFINITION_LIMITS;
  if (JSON.stringify(schema).length > SCHEMA_CHARS_MAX) {
    return `must have at most ${SCHEMA_CHARS_MAX} characters`;
  }
  if (countSchemaParts(schema) > jsonSchemaPartsEachMax) {
    return `must have at most ${jsonSchemaPartsEachMax} objects, arrays and booleans outside enum, const, default and examples`;
  }
  return null;
}

function refusal(variable: string, violations: readonly Violation[]): AgentInputError {
  return new AgentInputError(
    violations.map(({ path, message }) => ({ path: ["input", variable, ...path], message })),
  );
}

function inCallersSchema({ path, message }: Violation): Violation {
  if (PLACE.every((segment, index) => path[index] === segment)) {
    return { path: path.slice(PLACE.length), message };
  }
  const [first = ""] = path;
  return { path: HOISTED.includes(first) ? path : [], message };
}

/** Whether references in a schema start from itself and not from the document. */
function isBase(schema: JsonObject): boolean {
  const id = Object.hasOwn(schema, "$id") ? schema["$id"] : undefined;
  return typeof id === "string" && !id.startsWith("#");
}

interface Conversion {
  /** Whether pointers start from the document, and so move with the schema. */
  moves: boolean;
  /** Names in references. Unknown keywords of these names may hold schemas. */
  named: ReadonlySet<string>;
}

/** The validating keywords of a schema. Recursion is safe: callers' JSON nests at most 64 deep (D2). */
function withoutWords(schema: JsonObject, conversion: Conversion): JsonObject {
  const entries = Object.entries(schema).filter(
    ([key, value]) =>
      isDecidingKeyword(key, value) || (typeof value !== "string" && conversion.named.has(key)),
  );
  return Object.fromEntries(
    entries.map(([key, value]) => [key, convertKeyword(key, value, conversion)]),
  );
}

function convertKeyword(key: string, value: unknown, conversion: Conversion): unknown {
  if (DATA_KEYWORDS.has(key)) return value;
  if (REFERENCES.has(key)) return conversion.moves ? moveReference(value) : value;
  if (!NAMING_KEYWORDS.has(key) || !isJsonObject(value)) return convertValue(value, conversion);
  const named = Object.entries(value);
  return Object.fromEntries(named.map(([name, inner]) => [name, convertValue(inner, conversion)]));
}

function convertValue(value: unknown, conversion: Conversion): unknown {
  if (Array.isArray(value)) return value.map((item) => convertValue(item, conversion));
  if (!isJsonObject(value)) return value;
  return withoutWords(value, { ...conversion, moves: conversion.moves && !isBase(value) });
}

/** Names that references contain, as in `#/components/schemas/Order`. */
function namesInReferences(value: unknown, names = new Set<string>()): Set<string> {
  if (typeof value !== "object" || value === null) return names;
  for (const [key, member] of Object.entries(value)) {
    if (REFERENCES.has(key) && typeof member === "string") {
      for (const segment of segmentsOf(member)) names.add(segment);
    }
    namesInReferences(member, names);
  }
  return names;
}

/** The segments of a reference's JSON pointer (RFC 6901, section 6). */
function segmentsOf(reference: string): string[] {
  const [, pointer = ""] = reference.split("#");
  const segments = pointer.split("/").slice(1);
  return segments.map((segment) => decode(segment).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Pointers start at the top of the document, which is now the answer's schema. */
function moveReference(reference: unknown): unknown {
  if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) return reference;
  if (/^#\/(?:\$defs|definitions)\//.test(reference)) return reference;
  return `#/${PLACE.join("/")}${reference.slice(1)}`;
}

function propertiesOf(answer: JsonObject): JsonObject {
  const { properties } = answer;
  return isJsonObject(properties) ? properties : {};
}
