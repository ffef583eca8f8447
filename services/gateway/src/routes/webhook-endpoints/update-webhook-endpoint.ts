import { EndpointStatus } from "@workflow/proto/webhooks/v1/endpoints";
import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { endpointFields, endpointStatus } from "./endpoint-fields.ts";
import { ENDPOINT_STATUSES, endpointJson } from "./endpoint-json.ts";
import { endpointSchema } from "./endpoint-schema.ts";

export const updateWebhookEndpoint = route({
  method: "PUT",
  path: "/webhook-endpoints/{id}",
  scope: "workflows:write",
  bucket: "write",
  audit: "webhook_endpoint.updated",
  summary: "Change a webhook endpoint",
  description: [
    "Fields that are left out stay.",
    "`status: disabled` stops deliveries, and `status: active` begins them again.",
    "An endpoint that was disabled because its receiver failed gets what was held for it meanwhile.",
  ],
  params: { id: "The endpoint's id." },
  query: NO_QUERY,
  body: {
    schema: z
      .object({ ...endpointFields, status: endpointStatus })
      .partial()
      .meta({
        id: "WebhookEndpointPatch",
        description: "What to change of a webhook endpoint; all else stays.",
      }),
    optional: true,
  },
  responses: {
    200: {
      description: "The endpoint as it is now.",
      data: endpointSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ webhookEndpoints, call }, { params, body }) => {
    const { status, headers } = body;
    const endpoint = await webhookEndpoints.updateEndpoint(
      {
        endpointId: params.id,
        name: body.name,
        url: body.url,
        // Null clears a field. The message carries it as an empty value, which callers cannot send
        // otherwise.
        events: body.events === undefined ? undefined : { values: body.events ?? [] },
        workflowIds:
          body.workflowIds === undefined ? undefined : { values: body.workflowIds ?? [] },
        headers: headers === undefined ? undefined : { values: headers ?? {} },
        description: body.description === null ? "" : body.description,
        rateLimitPerSecond: body.rateLimitPerSecond === null ? 0 : body.rateLimitPerSecond,
        status: status === undefined ? EndpointStatus.UNSPECIFIED : ENDPOINT_STATUSES[status],
      },
      call,
    );
    return { status: 200, data: endpointJson(endpoint) };
  },
});
