import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import { references } from "./headers.ts";
import { inboundPaths } from "./inbound-paths.ts";

/** These paths lie outside of the API's base. */
const ORIGIN = [{ url: "/", description: "The origin of this server." }];

/** The paths of the origin: health, and the routes of inbound webhooks. */
export function originPaths(): ZodOpenApiPathsObject {
  return {
    "/livez": {
      servers: ORIGIN,
      get: health({
        operationId: "isAlive",
        summary: "Tell whether the process is alive",
        description: "It looks at nothing else, so it is the question of who restarts processes.",
        mayBeUnready: false,
      }),
    },
    "/readyz": {
      servers: ORIGIN,
      get: health({
        operationId: "isReady",
        summary: "Tell whether the gateway is ready",
        description:
          "It needs its database and the services behind it. While one of them is away, or it is about to stop, the answer is 503.",
        mayBeUnready: true,
      }),
    },
    ...inboundPaths(ORIGIN),
  };
}

interface Health {
  operationId: string;
  summary: string;
  description: string;
  mayBeUnready: boolean;
}

function health({
  operationId,
  summary,
  description,
  mayBeUnready,
}: Health): ZodOpenApiOperationObject {
  return {
    operationId,
    tags: ["Health"],
    summary,
    description: `${description}\n\nNeeds no credential.`,
    security: [],
    responses: {
      "200": {
        description: "Yes.",
        headers: references(["X-Request-Id", "Link"]),
        content: {
          "application/json": {
            schema: {
              type: "object",
              required: ["success", "data"],
              additionalProperties: false,
              properties: {
                success: { type: "boolean", const: true },
                data: {
                  type: "object",
                  required: ["status"],
                  additionalProperties: false,
                  properties: { status: { type: "string", const: "ok" } },
                },
              },
            },
          },
        },
      },
      "400": { $ref: "#/components/responses/BadRequest" },
      ...(mayBeUnready && { "503": { $ref: "#/components/responses/Unavailable" } }),
    },
  };
}
