import { z } from "zod";
import type { ActionInput } from "../action-input.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** zod's bounds of unlimited whole numbers, which carry no information. */
const SAFE_LIMITS = new Set<unknown>([Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);

/** The JSON Schema of inputs that share a key; undefined where the schema says no more than their type. */
export function schemaOf(inputs: readonly ActionInput[]): JsonSchema | undefined {
  const schemas = inputs.map((input) => toJsonSchema(input.schema));
  const distinct = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]));
  const [only, ...others] = distinct.values();
  if (others.length > 0) return { anyOf: [...distinct.values()] };
  const [type] = inputs.map((input) => input.type);
  const said = JSON.stringify(only);
  return only === undefined || said === "{}" || said === JSON.stringify({ type })
    ? undefined
    : only;
}

const known = new WeakMap<z.ZodType, JsonSchema>();

function toJsonSchema(schema: z.ZodType): JsonSchema {
  const seen = known.get(schema);
  if (seen !== undefined) return seen;
  const { $schema: _draft, ...made } = z.toJSONSchema(schema, {
    io: "input",
    target: "draft-2020-12",
    override: ({ jsonSchema }) => {
      if (SAFE_LIMITS.has(jsonSchema.minimum)) delete jsonSchema.minimum;
      if (SAFE_LIMITS.has(jsonSchema.maximum)) delete jsonSchema.maximum;
    },
  });
  known.set(schema, made);
  return made;
}
