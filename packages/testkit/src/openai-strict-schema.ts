import { isJsonObject } from "@workflow/json";

/** Keywords without support in strict mode, according to OpenAI's guide to structured outputs. */
const UNSUPPORTED = [
  "allOf",
  "not",
  "dependentRequired",
  "dependentSchemas",
  "if",
  "then",
  "else",
  "oneOf",
  "patternProperties",
  "propertyNames",
  "unevaluatedProperties",
  "prefixItems",
  "contains",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "minLength",
  "maxLength",
];

const FORMATS = "date-time time date duration email hostname ipv4 ipv6 uuid".split(" ");

/** Ten levels, as the guide says. */
const LEVELS_MAX = 10;
const PROPERTIES_MAX = 5_000;
const ENUM_VALUES_MAX = 1_000;

/**
 * OpenAI's message about a schema that strict mode refuses; null for a good one (developers.openai.com, Structured
 * Outputs, "Supported schemas").
 */
export function refuseStrictSchema(schema: Record<string, unknown>): string | null {
  if (schema["anyOf"] !== undefined) return "In context=(), 'anyOf' is not permitted.";
  if (schema["type"] !== "object") {
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${toText(schema["type"])}"'.`;
  }
  const counts = { properties: 0, enumValues: 0 };
  return (
    refuse(schema, [], counts) ??
    (counts.properties > PROPERTIES_MAX
      ? `Expected at most ${PROPERTIES_MAX} object properties.`
      : null) ??
    (counts.enumValues > ENUM_VALUES_MAX
      ? `Expected at most ${ENUM_VALUES_MAX} enum values.`
      : null)
  );
}

function refuse(
  node: unknown,
  context: readonly string[],
  counts: { properties: number; enumValues: number },
): string | null {
  const where = `In context=(${context.map((part) => `'${part}'`).join(", ")})`;
  if (!isJsonObject(node)) return `${where}, schema must have a 'type' key.`;
  const { properties, required, items, anyOf, $defs, type, format } = node;
  const unsupported = UNSUPPORTED.find((keyword) => node[keyword] !== undefined);
  if (unsupported !== undefined) return `${where}, '${unsupported}' is not permitted.`;
  const keyless = ["type", "anyOf", "$ref", "enum", "const"].every(
    (key) => node[key] === undefined,
  );
  if (keyless) return `${where}, schema must have a 'type' key.`;
  if (format !== undefined && !FORMATS.includes(toText(format))) {
    return `${where}, '${toText(format)}' is not a valid format.`;
  }
  if (Array.isArray(node["enum"])) counts.enumValues += node["enum"].length;
  const types = Array.isArray(type) ? type : [type];
  if (types.includes("object")) {
    if (node["additionalProperties"] !== false) {
      return `${where}, 'additionalProperties' is required to be supplied and to be false.`;
    }
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    counts.properties += names.length;
    const missing = names.find((name) => !Array.isArray(required) || !required.includes(name));
    if (missing !== undefined) {
      return `${where}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
    }
  }
  if (types.includes("array") && items === undefined) {
    return `${where}, array schema missing items.`;
  }
  if (context.filter((part) => part === "properties" || part === "items").length > LEVELS_MAX) {
    return `Expected at most ${LEVELS_MAX} levels of nesting.`;
  }
  const below: (readonly [readonly string[], unknown])[] = [
    ...named("properties", properties),
    ...named("$defs", $defs),
    ...(items === undefined ? [] : [[["items"], items] as const]),
    ...(Array.isArray(anyOf)
      ? anyOf.map((each: unknown, index) => [["anyOf", String(index)], each] as const)
      : []),
  ];
  for (const [path, each] of below) {
    const refused = refuse(each, [...context, ...path], counts);
    if (refused !== null) return refused;
  }
  return null;
}

function named(keyword: string, schemas: unknown): (readonly [readonly string[], unknown])[] {
  if (!isJsonObject(schemas)) return [];
  return Object.entries(schemas).map(([name, each]) => [[keyword, name], each] as const);
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
