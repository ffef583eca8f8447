import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { endpointJson } from "./endpoint-json.ts";
import { endpointSchema } from "./endpoint-schema.ts";

export const getWebhookEndpoint = route({
  method: "GET",
  path: "/webhook-endpoints/{id}",
  scope: "workflows:read",
  bucket: "read",
  summary: "Get a webhook endpoint",
  description: [
    "The answer has everything but the secret.",
    "`consecutiveFailures` says how near it is to being disabled.",
  ],
  params: { id: "The endpoint's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description: "The endpoint, without its secret.",
      data: endpointSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ webhookEndpoints, call }, { params }) => {
    const endpoint = await webhookEndpoints.getEndpoint({ endpointId: params.id }, call);
    return { status: 200, data: endpointJson(endpoint) };
  },
});
