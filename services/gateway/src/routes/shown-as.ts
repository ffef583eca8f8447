import { z } from "zod";

/** A part of a JSON Schema (draft 2020-12) of the document. */
type ShownSchema = Readonly<Record<string, unknown>>;

/**
 * The schema as it is, but shown to readers as something else: of what a service judges, the gateway checks
 * little and readers want to know all. The description stays that of the schema, where it has one.
 */
export function shownAs<Schema extends z.ZodType>(schema: Schema, shown: ShownSchema): Schema {
  return schema.meta({ override: replacing(shown) });
}

/** The schema as it is, shown as a component. */
export function shownAsComponent<Schema extends z.ZodType>(
  schema: Schema,
  component: z.ZodType,
): Schema {
  return shownAs(schema, refTo(component));
}

/** A reference to a component that some answer of the API has as well. */
export function refTo(component: z.ZodType): ShownSchema {
  const id = component.meta()?.id;
  if (id === undefined) throw new Error("Only a schema with an id is a component.");
  return { $ref: `#/components/schemas/${id}` };
}

/**
 * A component that JSON Schema made elsewhere describes. `parts` are members that are components as well,
 * and take the places of those in the JSON Schema.
 */
export function componentOf(
  meta: { id: string; description: string; examples?: unknown[] },
  shown: ShownSchema,
  parts: Readonly<Record<string, z.ZodType>> = {},
) {
  return z.looseObject(parts).meta({
    ...meta,
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      const own = jsonSchema["properties"];
      replacing(shown)({ jsonSchema });
      jsonSchema["properties"] = Object.assign({}, shown["properties"], own);
    },
  });
}

/** What the words about a schema are; all else is of its rendered form. */
const WORDS = new Set(["description", "examples"]);

function replacing(shown: ShownSchema) {
  return ({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void => {
    for (const key of Object.keys(jsonSchema)) if (!WORDS.has(key)) delete jsonSchema[key];
    for (const [key, value] of Object.entries(shown)) {
      if (key !== "$schema" && !(WORDS.has(key) && key in jsonSchema)) jsonSchema[key] = value;
    }
  };
}
