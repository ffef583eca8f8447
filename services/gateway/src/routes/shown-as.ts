import { z } from "zod";

/** A part of a JSON Schema (draft 2020-12) of the document. */
type ShownSchema = Readonly<Record<string, unknown>>;

/**
 * The same check, with another schema in the description: the gateway checks little of what a
 * service validates, and readers want to know it all. A description of the checked schema is kept.
 */
export function shownAs<Schema extends z.ZodType>(schema: Schema, shown: ShownSchema): Schema {
  return schema.meta({ override: replacing(shown) });
}

/** The same schema, as a component of the description. */
export function shownAsComponent<Schema extends z.ZodType>(
  schema: Schema,
  component: z.ZodType,
): Schema {
  return shownAs(schema, refTo(component));
}

/** A reference to a component that some answer of the API contains too. */
export function refTo(component: z.ZodType): ShownSchema {
  const id = component.meta()?.id;
  if (id === undefined) throw new Error("Only a schema with an id is a component.");
  return { $ref: `#/components/schemas/${id}` };
}

/**
 * A component from a JSON Schema that another module makes. `parts` are members that are components
 * as well and replace those in the JSON Schema.
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

/** The annotations of a schema; the rest comes from its rendered form. */
const WORDS = new Set(["description", "examples"]);

function replacing(shown: ShownSchema) {
  return ({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void => {
    for (const key of Object.keys(jsonSchema)) if (!WORDS.has(key)) delete jsonSchema[key];
    for (const [key, value] of Object.entries(shown)) {
      if (key !== "$schema" && !(WORDS.has(key) && key in jsonSchema)) jsonSchema[key] = value;
    }
  };
}
