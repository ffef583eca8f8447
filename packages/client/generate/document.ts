import { z } from "zod";

const schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  get properties() {
    return z.record(z.string(), schema).optional();
  },
  get items() {
    return schema.optional();
  },
});

const content = z.record(z.string(), z.looseObject({ schema: schema.optional() }));

/** A reference to a parameter, or one that stands in its place. */
const parameter = z.looseObject({
  $ref: z.string().optional(),
  in: z.string().optional(),
  name: z.string().optional(),
  required: z.boolean().optional(),
});

const operation = z.looseObject({
  operationId: z.string(),
  tags: z.tuple([z.string()]),
  summary: z.string(),
  description: z.string().optional(),
  parameters: z.array(parameter).optional(),
  requestBody: z.looseObject({ required: z.boolean().optional(), content }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: content.optional() })),
});

const pathItem = z.looseObject({ servers: z.array(z.unknown()).optional() });

/** What the generator reads of an OpenAPI document. */
export const apiDocument = z.looseObject({
  paths: z.record(z.string(), pathItem),
  webhooks: z.record(z.string(), z.looseObject({ post: z.looseObject({}) })),
  components: z.looseObject({
    schemas: z.record(z.string(), z.looseObject({})),
    parameters: z.record(z.string(), z.looseObject({ name: z.string() })),
  }),
});

export type ApiDocument = z.output<typeof apiDocument>;
export type Schema = z.output<typeof schema>;

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** An operation, as the document has it. */
export type DocumentedOperation = z.output<typeof operation> & {
  method: (typeof METHODS)[number];
  path: string;
};

/** The operations below the base of the API, in the order of the document. */
export function listOperations(document: ApiDocument): DocumentedOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    // Those with servers of their own are for providers, who send webhooks, and for load balancers.
    item.servers === undefined
      ? METHODS.flatMap((method) => {
          const found = item[method];
          return found === undefined ? [] : [{ ...operation.parse(found), method, path }];
        })
      : [],
  );
}

const errorSchema = z.looseObject({
  properties: z.looseObject({
    error: z.looseObject({ properties: z.looseObject({ code: z.looseObject({}) }) }),
  }),
});

/** Components of operations that are no part of the client. */
const NOT_CALLED = ["Error", "PlainError", "InboundReceipt", "InboundCount"];

/**
 * The document without what the client has no types for: errors, of which only the codes are left, headers, which it
 * sets itself, and operations for others.
 */
export function documentForClient(document: ApiDocument): ApiDocument {
  const copy = structuredClone(document);
  for (const [path, item] of Object.entries(copy.paths)) {
    if (item.servers !== undefined) delete copy.paths[path];
    for (const method of METHODS) {
      const found = operation.safeParse(item[method]);
      if (!found.success) continue;
      const { parameters = [], responses } = found.data;
      const good = Object.entries(responses).filter(([status]) => status.startsWith("2"));
      item[method] = {
        ...found.data,
        parameters: parameters.filter((each) => each.in === "path" || each.in === "query"),
        responses: Object.fromEntries(good),
      };
    }
  }
  for (const webhook of Object.values(copy.webhooks)) {
    webhook.post["parameters"] = [];
    webhook.post["responses"] = {};
  }
  const { code } = errorSchema.parse(copy.components.schemas["Error"]).properties.error.properties;
  for (const name of NOT_CALLED) delete copy.components.schemas[name];
  copy.components.schemas["ErrorCode"] = code;
  for (const component of Object.values(copy.components.schemas)) typeAlternatives(component);
  copy.components.parameters = {};
  delete copy.components["responses"];
  delete copy["servers"];
  return copy;
}

const alternatives = z.looseObject({
  properties: z.record(z.string(), z.unknown()),
  oneOf: z.array(z.looseObject({ properties: z.record(z.string(), z.unknown()) })),
});

/**
 * Where one of several properties is needed, the document names them alone and says elsewhere what they are. Their types
 * would be unknown and a copy of such an object, by spread, would not have its type any more.
 */
function typeAlternatives(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const found = alternatives.safeParse(value);
  if (found.success && "oneOf" in value) {
    const { properties, oneOf } = found.data;
    value.oneOf = oneOf.map((one) => ({
      ...one,
      properties: Object.fromEntries(
        Object.keys(one.properties).map((name) => [name, properties[name] ?? {}]),
      ),
    }));
  }
  for (const member of Object.values(value)) typeAlternatives(member);
}
