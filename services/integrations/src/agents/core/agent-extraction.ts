import { oneOf } from "@workflow/catalog";
import type { JsonObject } from "@workflow/json";
import { z } from "zod";
import { exactly, share, texts } from "./answer-schema.ts";
import { defineCoreAgent } from "./core-agent.ts";
import { embedSchema } from "./embed-schema.ts";
import { anyObject, customInstructions, shortText } from "./variables.ts";

/** The types of fields, and the schema of a value that the document has. */
const FIELD_TYPES = {
  string: { type: "string" },
  number: { type: "number" },
  integer: { type: "integer" },
  boolean: { type: "boolean" },
  date: { type: "string", format: "date" },
  datetime: { type: "string", format: "date-time" },
  array: { type: "array" },
  object: { type: "object" },
} as const;
type FieldType = keyof typeof FIELD_TYPES;
const FIELD_TYPE_NAMES = Object.keys(FIELD_TYPES).filter(isFieldType);

/** A schema with more members does not ask for the confidence of each member by name. */
const FIELDS_MAX = 200;

/** ajv and most programs treat this name specially. */
const fieldName = z
  .string()
  .min(1)
  .max(255)
  .refine((name) => name !== "__proto__", "must be another name");

const field = z.union(
  [
    fieldName,
    z.object({
      name: fieldName,
      type: z.enum(FIELD_TYPE_NAMES).optional(),
      description: shortText(2_000).optional(),
      required: z.boolean().optional(),
    }),
  ],
  {
    error: `must be a name, or an object with a name and perhaps type (${oneOf(FIELD_TYPE_NAMES)}), description and required (true or false)`,
  },
);
type Field = z.output<typeof field>;

const variables = z.object({
  document: z.string().refine((text) => text.trim() !== "", "must not be empty"),
  schema: anyObject.optional(),
  fields: z
    .array(field)
    .min(1)
    .max(FIELDS_MAX)
    .refine(haveOneNameEach, "must not name a field twice")
    .optional(),
  documentType: shortText().optional(),
  customInstructions: customInstructions.optional(),
});

/** Extracts data from a document, with the confidence of each member. */
export const agentExtraction = defineCoreAgent({
  id: "agent_extraction",
  name: "Data extraction",
  description:
    "Takes structured data out of a document and says how sure it is of each field. Never fills in what the document does not say.",
  type: "extraction",
  temperature: 0,
  maxTokens: 8_192,
  version: 1,
  variables,
  outputSchemaOf({ schema, fields }) {
    const names = fields?.map(nameOf) ?? namesOf(schema);
    const answer = answerOf(fields === undefined ? {} : dataOf(fields), names);
    return schema === undefined ? answer : embedSchema(answer, schema, "schema");
  },
});

function answerOf(data: JsonObject, names: readonly string[] | undefined): JsonObject {
  const sureness = share("How sure the value is what the document says");
  return exactly({
    data,
    confidence:
      names === undefined
        ? { type: "object", additionalProperties: sureness }
        : exactly(Object.fromEntries(names.map((name) => [name, sureness]))),
    overallConfidence: share("How sure the data is right as a whole"),
    missingFields: texts("What was asked for and is not in the document"),
    notes: {
      type: ["string", "null"],
      description: "What somebody should know before using the data; null when there is nothing",
    },
  });
}

/** Every field is present, and null where the document does not have it. */
function dataOf(fields: readonly Field[]): JsonObject {
  return exactly(Object.fromEntries(fields.map((each) => [nameOf(each), valueOf(each)])));
}

function valueOf(each: Field): JsonObject {
  const type = typeof each === "string" ? undefined : each.type;
  if (type === undefined) return {};
  const { type: jsonType, ...rest } = FIELD_TYPES[type];
  return { type: [jsonType, "null"], ...rest };
}

function nameOf(each: Field): string {
  return typeof each === "string" ? each : each.name;
}

/** The members that a schema names itself. */
function namesOf(schema: JsonObject | undefined): readonly string[] | undefined {
  const properties =
    schema !== undefined && Object.hasOwn(schema, "properties") && schema["properties"];
  if (typeof properties !== "object" || properties === null) return undefined;
  const names = Object.keys(properties);
  const canBeAsked = names.every((name) => fieldName.safeParse(name).success);
  return names.length > 0 && names.length <= FIELDS_MAX && canBeAsked ? names : undefined;
}

function haveOneNameEach(fields: readonly Field[]): boolean {
  return new Set(fields.map(nameOf)).size === fields.length;
}

function isFieldType(name: string): name is FieldType {
  return Object.hasOwn(FIELD_TYPES, name);
}
