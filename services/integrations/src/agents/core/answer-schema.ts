import type { JsonObject } from "@workflow/json";

/*
 * Parts of output schemas. Each member is required and no other is allowed, as providers' structured
 * modes demand. An optional member is null instead.
 */

/** An object with exactly these members. */
export function exactly(properties: JsonObject): JsonObject {
  return {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** A list of texts. */
export function texts(description: string): JsonObject {
  return { type: "array", items: { type: "string" }, description };
}

/** How sure the model is. */
export function share(description: string): JsonObject {
  return { type: "number", minimum: 0, maximum: 1, description };
}

/** One of these texts; any text when there are none. */
export function textOf(values: readonly string[] | undefined, description: string): JsonObject {
  return { type: "string", ...(values === undefined ? {} : { enum: [...values] }), description };
}
