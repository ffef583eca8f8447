import { isJsonObject } from "@workflow/json";
import type { ModelQuestion } from "./model.ts";

type Schema = NonNullable<ModelQuestion["outputSchema"]>;

/** How OpenAI gets a schema; null when the schema is only in the prompt. */
export type OpenAiSchemaMode = "strict" | "loose" | null;

/** Keywords of the strict subset (OpenAI, Structured Outputs, "Supported schemas"). */
const STRICT_KEYWORDS: ReadonlySet<string> = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "anyOf",
  "$defs",
  "$ref",
  "enum",
  "const",
  "title",
  "description",
  "pattern",
  "format",
  "multipleOf",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minItems",
  "maxItems",
]);

const STRICT_FORMATS: ReadonlySet<unknown> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
]);

/** The limits of the subset: nesting, all properties, values of all enums, characters of all names. */
const LIMITS = { levels: 10, properties: 5_000, enumValues: 1_000, nameChars: 120_000 } as const;

interface Counts {
  properties: number;
  enumValues: number;
  nameChars: number;
}

/**
 * `strict` for a schema within the subset by which OpenAI decodes. `loose` asks for JSON and promises
 * nothing more. Neither mode allows a root that is no object.
 */
export function openAiSchemaMode(schema: Schema): OpenAiSchemaMode {
  if (schema["type"] !== "object" || hasMember(schema, "propertyNames", LEVELS_MAX)) return null;
  const counts: Counts = { properties: 0, enumValues: 0, nameChars: 0 };
  const fits =
    schema["anyOf"] === undefined &&
    schema["$ref"] === undefined &&
    fitsStrict(schema, 0, counts) &&
    counts.properties <= LIMITS.properties &&
    counts.enumValues <= LIMITS.enumValues &&
    counts.nameChars <= LIMITS.nameChars;
  return fits ? "strict" : "loose";
}

/** `compileJsonSchema` refuses deeper schemas. */
const LEVELS_MAX = 64;

/** The SDK throws at some schemas with a member of this name, so such a schema is not passed. */
function hasMember(value: unknown, name: string, levels: number): boolean {
  if (typeof value !== "object" || value === null || levels === 0) return false;
  if (Object.hasOwn(value, name)) return true;
  return Object.values(value).some((item) => hasMember(item, name, levels - 1));
}

function fitsStrict(node: unknown, level: number, counts: Counts): boolean {
  if (!isJsonObject(node) || level > LIMITS.levels) return false;
  if (!Object.keys(node).every((keyword) => STRICT_KEYWORDS.has(keyword))) return false;
  const { type, items, anyOf, $defs, $ref, format, pattern } = node;
  if (format !== undefined && !STRICT_FORMATS.has(format)) return false;
  if (typeof pattern === "string" && LOOKAROUND.test(pattern)) return false;
  if ($ref !== undefined && !(typeof $ref === "string" && $ref.startsWith("#"))) return false;
  if (!countEnum(node, counts)) return false;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (type === undefined && anyOf === undefined && $ref === undefined) return false;
  if (types.includes("object") && !fitsStrictObject(node, level, counts)) return false;
  if (types.includes("array") && items === undefined) return false;
  const below: unknown[] = [
    ...(items === undefined ? [] : [items]),
    ...(isJsonObject($defs) ? Object.values($defs) : []),
  ];
  const branches: unknown[] = Array.isArray(anyOf) ? anyOf : [];
  return (
    below.every((each) => fitsStrict(each, level + 1, counts)) &&
    branches.every((each) => fitsStrict(each, level, counts))
  );
}

/** OpenAI answers 400 to lookarounds. RE2, which validates the answer, has none either. */
const LOOKAROUND = /\(\?<?[=!]/;

/** Whether all properties are required and no others are allowed. */
function fitsStrictObject(
  { properties = {}, required = [], additionalProperties }: Schema,
  level: number,
  counts: Counts,
): boolean {
  if (additionalProperties !== false || !isJsonObject(properties) || !Array.isArray(required))
    return false;
  const names = Object.keys(properties);
  const wanted = new Set<unknown>(required);
  counts.properties += names.length;
  counts.nameChars += names.reduce((sum, { length }) => sum + length, 0);
  if (!names.every((name) => wanted.has(name)) || wanted.size !== names.length) return false;
  return Object.values(properties).every((each) => fitsStrict(each, level + 1, counts));
}

function countEnum({ enum: values, const: value }: Schema, counts: Counts): boolean {
  if (value !== undefined && typeof value === "object") return false;
  if (values === undefined) return true;
  if (!Array.isArray(values)) return false;
  counts.enumValues += values.length;
  counts.nameChars += values.reduce<number>((sum, each) => sum + String(each).length, 0);
  return values.every((each) => typeof each !== "object" || each === null);
}
