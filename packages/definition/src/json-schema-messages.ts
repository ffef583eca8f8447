import { isJsonObject } from "@workflow/json";
import type { ErrorObject } from "ajv";

/** The longest list of allowed values in a message, in characters. */
const VALUES_CHARS_MAX = 200;

/** Parameters of errors that name the missing or forbidden property. */
const PROPERTY_PARAMS = [
  "missingProperty",
  "additionalProperty",
  "unevaluatedProperty",
  "propertyName",
] as const;

/** JSON Schema's types, as the other messages of the API call them. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "a boolean",
  object: "an object",
  array: "an array",
};

const CHARACTERS = ["character", "characters"] as const;
const ITEMS = ["item", "items"] as const;
const PROPERTIES = ["property", "properties"] as const;

/** What a keyword with a number asks for, and of what: the word for one, and that for several. */
const LIMITS: Readonly<Record<string, readonly [what: string, unit?: readonly [string, string]]>> =
  {
    minimum: ["at least"],
    maximum: ["at most"],
    exclusiveMinimum: ["more than"],
    exclusiveMaximum: ["less than"],
    multipleOf: ["a multiple of"],
    minLength: ["at least", CHARACTERS],
    maxLength: ["at most", CHARACTERS],
    minItems: ["at least", ITEMS],
    maxItems: ["at most", ITEMS],
    minProperties: ["at least", PROPERTIES],
    maxProperties: ["at most", PROPERTIES],
  };

/** The path of an ajv error into the value; it ends at the property that is missing or not allowed. */
export function schemaErrorPath(error: ErrorObject): string[] {
  const path = pointerSegments(error.instancePath);
  const property = PROPERTY_PARAMS.map((name) => param(error, name)).find(
    (value) => typeof value === "string",
  );
  return typeof property === "string" ? [...path, property] : path;
}

/** The rule that the value breaks, in words that do not show the value. */
export function schemaErrorMessage(error: ErrorObject): string {
  switch (error.keyword) {
    case "type":
      return `must be ${[param(error, "type")].flat().map(typeName).join(" or ")}`;
    case "required":
      return "is required";
    case "dependentRequired":
    case "dependencies":
      return `is required when ${String(param(error, "property"))} is given`;
    case "additionalProperties":
    case "unevaluatedProperties":
    case "false schema":
      return "is not allowed";
    case "propertyNames":
      return "is not an allowed property name";
    case "enum":
      return `must be one of ${shorten(param(error, "allowedValues"))}`;
    case "const":
      return `must be ${shorten(param(error, "allowedValue"))}`;
    case "format":
      return `must be a valid ${String(param(error, "format"))}`;
    case "pattern":
      return `must match the pattern ${String(param(error, "pattern"))}`;
    case "uniqueItems":
      return "must not hold equal items";
    case "anyOf":
      return "must match at least one of the schemas in anyOf";
    case "oneOf":
      return "must match exactly one of the schemas in oneOf";
    case "not":
      return "must not match the schema in not";
    default:
      return limitMessage(error) ?? error.message ?? `does not fulfil ${error.keyword}`;
  }
}

/** The message of a keyword with a number, which ajv words in symbols and capitals; undefined for other keywords. */
function limitMessage(error: ErrorObject): string | undefined {
  const [what, unit] = LIMITS[error.keyword] ?? [];
  if (what === undefined) return undefined;
  const limit = param(error, error.keyword === "multipleOf" ? "multipleOf" : "limit");
  if (unit === undefined) return `must be ${what} ${String(limit)}`;
  return `must have ${what} ${String(limit)} ${unit[limit === 1 ? 0 : 1]}`;
}

function typeName(type: unknown): string {
  return TYPE_NAMES[String(type)] ?? String(type);
}

function param(error: ErrorObject, name: string): unknown {
  const params: unknown = error.params;
  return isJsonObject(params) ? params[name] : undefined;
}

function shorten(value: unknown): string {
  const text = Array.isArray(value)
    ? value.map((item) => JSON.stringify(item)).join(", ")
    : JSON.stringify(value);
  return text.length > VALUES_CHARS_MAX ? `${text.slice(0, VALUES_CHARS_MAX)}…` : text;
}

/** The segments of a JSON pointer (RFC 6901). */
function pointerSegments(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}
