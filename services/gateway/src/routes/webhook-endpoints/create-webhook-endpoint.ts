import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { endpointFields } from "./endpoint-fields.ts";
import { endpointWithSecretJson } from "./endpoint-json.ts";
import { endpointWithSecretSchema } from "./endpoint-schema.ts";

export const createWebhookEndpoint = route({
  method: "POST",
  path: "/webhook-endpoints",
  scope: "workflows:write",
  bucket: "write",
  audit: "webhook_endpoint.created",
  summary: "Create a webhook endpoint; only this answer and that of rotate-secret show a secret",
  params: {},
  query: NO_QUERY,
  body: {
    schema: z
      .object(endpointFields)
      .meta({ id: "NewWebhookEndpoint", description: "A new webhook endpoint." }),
  },
  responses: {
    201: {
      description: "The endpoint and its secret.",
      data: endpointWithSecretSchema,
    },
  },
  handler: async ({ webhookEndpoints, call }, { body }) => {
    const created = await webhookEndpoints.createEndpoint(
      {
        name: body.name,
        url: body.url,
        events: body.events ? { values: body.events } : undefined,
        workflowIds: body.workflowIds ? { values: body.workflowIds } : undefined,
        headers: body.headers ?? {},
        description: body.description ?? undefined,
        rateLimitPerSecond: body.rateLimitPerSecond ?? undefined,
      },
      call,
    );
    return { status: 201, data: endpointWithSecretJson(created) };
  },
});
