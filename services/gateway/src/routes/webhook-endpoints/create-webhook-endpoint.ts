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
  summary: "Create a webhook endpoint",
  description: [
    "From now on the endpoint gets a signed POST for each event of a run that its `events` and `workflowIds` let through.",
    "The secret is shown here and by rotate-secret only: keep it to verify signatures.",
    "The address has to be https and public, else BAD_REQUEST.",
    "A delivery that fails is tried eight times in all; ten failures in a row disable the endpoint.",
  ],
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
