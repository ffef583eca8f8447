import type {
  oas31,
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponseObject,
} from "zod-openapi";
import { references } from "./headers.ts";
import {
  ERRORS_OF_ALL,
  INBOUND_ERRORS,
  INBOUND_ROUTES,
  PATH_PARAMETERS,
} from "./inbound-routes.ts";
import type { InboundError, InboundRoute } from "./inbound-routes.ts";

/** The paths to which providers post their events, outside of the API's base. */
export function inboundPaths(servers: readonly oas31.ServerObject[]): ZodOpenApiPathsObject {
  return Object.fromEntries(
    INBOUND_ROUTES.map((route) => [route.path, { servers: [...servers], post: toInbound(route) }]),
  );
}

/** The components that these paths refer to. */
export function inboundComponents() {
  return {
    schemas: { PlainError: PLAIN_ERROR, InboundReceipt: RECEIPT, InboundCount: COUNT },
    responses: Object.fromEntries(
      Object.entries(INBOUND_ERRORS).map(([name, error]) => [name, toPlainError(error)]),
    ),
  };
}

function toInbound(route: InboundRoute): ZodOpenApiOperationObject {
  const { path, operationId, summary, description, headers, receipt } = route;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const parameters = names.map((name): oas31.ParameterObject => {
    return {
      name,
      in: "path",
      required: true,
      ...PATH_PARAMETERS[name],
      schema: { type: "string" },
    };
  });
  const errors = [...ERRORS_OF_ALL, ...route.errors].map((name) => [
    String(INBOUND_ERRORS[name].status),
    { $ref: `#/components/responses/${name}` },
  ]);
  const json = { "application/json": { schema: {}, example: route.example } };
  const other = { "*/*": { schema: {}, example: "order=4711&reason=wrong+size" } };
  return {
    operationId,
    tags: ["Inbound webhooks"],
    summary,
    description: `${description}\n\nNeeds no API key. At most 1 MiB.`,
    security: [],
    parameters: [...parameters, ...headers],
    requestBody: {
      description: "The event as the sender makes it.",
      required: route.anyBody !== true,
      content: route.anyBody === true ? { ...json, ...other } : json,
    },
    responses: {
      "200": {
        description: "The event is stored; what it starts is started.",
        headers: references(["X-Request-Id", "Link"]),
        content: {
          "application/json": { schema: { $ref: `#/components/schemas/${receipt}` } },
        },
      },
      ...Object.fromEntries(errors),
    },
  };
}

const PLAIN_ERROR: oas31.SchemaObject = {
  type: "object",
  description: "What refused webhooks are answered with.",
  required: ["error"],
  additionalProperties: false,
  properties: { error: { type: "string", description: "What is wrong, for people." } },
};

const RECEIPT: oas31.SchemaObject = {
  type: "object",
  description: "What a received event is answered with.",
  required: ["received", "eventId", "workflowsTriggered"],
  additionalProperties: false,
  properties: {
    received: { type: "boolean", const: true },
    eventId: {
      type: ["string", "null"],
      description: "The id of the event's record, or the sender's; null when it has none.",
      examples: ["evt_01kg9d1m3cexw9f1c3f4r7m2qa"],
    },
    workflowsTriggered: {
      type: "integer",
      minimum: 0,
      description: "How many runs it has started.",
    },
  },
};

const COUNT: oas31.SchemaObject = {
  type: "object",
  description: "What events of the dispatcher's providers are answered with.",
  required: ["received", "count"],
  additionalProperties: false,
  properties: {
    received: { type: "boolean", const: true },
    count: { type: "integer", minimum: 0, description: "How many runs they have started." },
  },
};

function toPlainError({
  description,
  example,
  waits = false,
}: InboundError): ZodOpenApiResponseObject {
  return {
    description,
    headers: references(["X-Request-Id", "Link", ...(waits ? (["Retry-After"] as const) : [])]),
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/PlainError" },
        example: { error: example },
      },
    },
  };
}
