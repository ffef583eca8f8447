import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import { references } from "./headers.ts";
import { inboundPaths } from "./inbound-paths.ts";

/** These paths lie beside the API's base. */
const ORIGIN = [{ url: "/", description: "The origin of this server." }];

/** What lies at the origin: health, and the routes by which webhooks come in. */
export function originPaths(): ZodOpenApiPathsObject {
  return {
    "/livez": { servers: ORIGIN, get: health("isAlive", "Whether the process is alive", false) },
    "/readyz": {
      servers: ORIGIN,
      get: health("isReady", "Whether the gateway and what it needs are ready", true),
    },
    ...inboundPaths(ORIGIN),
  };
}

function health(
  operationId: string,
  summary: string,
  mayBeUnready: boolean,
): ZodOpenApiOperationObject {
  return {
    operationId,
    tags: ["Health"],
    summary,
    description: "Needs no credential.",
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
