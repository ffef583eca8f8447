import { ROUTES } from "@workflow/service-gateway/routes";
import type { Route } from "@workflow/service-gateway/routes";
import { z } from "zod";
import { readDescription } from "./description/description.ts";
import { nameOf } from "./route-requests.ts";

/** The parts of JSON Schema in the descriptions of requests. */
export interface JsonSchema {
  $ref?: string | undefined;
  type?: string | string[] | undefined;
  enum?: unknown[] | undefined;
  const?: unknown;
  examples?: unknown[] | undefined;
  pattern?: string | undefined;
  format?: string | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  minItems?: number | undefined;
  maxItems?: number | undefined;
  required?: string[] | undefined;
  properties?: Record<string, JsonSchema> | undefined;
  items?: JsonSchema | undefined;
  additionalProperties?: boolean | JsonSchema | undefined;
  anyOf?: JsonSchema[] | undefined;
  oneOf?: JsonSchema[] | undefined;
  allOf?: JsonSchema[] | undefined;
}

const jsonSchema: z.ZodType<JsonSchema> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    examples: z.array(z.unknown()).optional(),
    pattern: z.string().optional(),
    format: z.string().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    required: z.array(z.string()).optional(),
    properties: z.record(z.string(), jsonSchema).optional(),
    items: jsonSchema.optional(),
    additionalProperties: z.union([z.boolean(), jsonSchema]).optional(),
    anyOf: z.array(jsonSchema).optional(),
    oneOf: z.array(jsonSchema).optional(),
    allOf: z.array(jsonSchema).optional(),
  }),
);

const content = z.record(z.string(), z.object({ schema: jsonSchema.optional() }));
const parameter = z.object({
  $ref: z.string().optional(),
  in: z.enum(["path", "query", "header", "cookie"]).optional(),
  name: z.string().optional(),
  schema: jsonSchema.optional(),
});
const operation = z.object({
  parameters: z.array(parameter).default([]),
  requestBody: z.object({ content }).optional(),
});
const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.object({
    schemas: z.record(z.string(), jsonSchema).default({}),
    parameters: z.record(z.string(), parameter).default({}),
  }),
});

/** A place outside the body where a request of an operation may carry a value. */
export interface Parameter {
  in: "path" | "query" | "header" | "cookie";
  name: string;
  schema: JsonSchema;
}

/** The description of a route's requests. */
export interface Operation {
  readonly route: Route;
  /** `GET /workflows/{id}` */
  readonly name: string;
  readonly parameters: readonly Parameter[];
  /** The schema of a JSON body; undefined where there is none. */
  readonly body: JsonSchema | undefined;
}

/** The description of the API, as it is in the sources. */
export interface ApiDocument {
  operationOf(route: Route): Operation;
  /** The schema behind a reference; any other schema as it is. */
  readonly resolve: (schema: JsonSchema) => JsonSchema;
}

/** Reads the description. Throws when it lacks a route of the table. */
export async function readApiDocument(): Promise<ApiDocument> {
  const whole = (await readDescription()).document;
  const { paths, components } = documentSchema.parse(whole);
  const toParameter = (given: z.output<typeof parameter>): Parameter[] => {
    const name = given.$ref?.split("/").at(-1);
    const found = name === undefined ? given : components.parameters[name];
    if (found?.in === undefined || found.name === undefined) return [];
    return [{ in: found.in, name: found.name, schema: found.schema ?? {} }];
  };
  const operations = new Map(
    ROUTES.map((route) => {
      const described = operation.parse(paths[route.path]?.[route.method.toLowerCase()]);
      return [
        route,
        {
          route,
          name: nameOf(route),
          parameters: described.parameters.flatMap(toParameter),
          body: described.requestBody?.content["application/json"]?.schema,
        },
      ];
    }),
  );
  const resolve = (schema: JsonSchema): JsonSchema => {
    if (schema.$ref === undefined) return schema;
    const found = components.schemas[schema.$ref.split("/").at(-1) ?? ""];
    if (found === undefined) throw new Error(`The description lacks ${schema.$ref}.`);
    return resolve(found);
  };
  return {
    resolve,
    operationOf(route) {
      const found = operations.get(route);
      if (found === undefined) throw new Error(`${nameOf(route)} is not in the table of routes.`);
      return found;
    },
  };
}
