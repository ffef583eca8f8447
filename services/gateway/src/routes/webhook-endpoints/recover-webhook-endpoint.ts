import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { timestamp } from "../fields.ts";
import { recoverySchema } from "./endpoint-schema.ts";

export const recoverWebhookEndpoint = route({
  method: "POST",
  path: "/webhook-endpoints/{id}/recover",
  scope: "workflows:write",
  bucket: "write",
  audit: "webhook_endpoint.recovered",
  summary:
    "Queue the failed deliveries of a webhook endpoint again, up to 10,000 a call, newest first",
  params: { id: "The endpoint's id." },
  query: NO_QUERY,
  body: {
    schema: z
      .object({
        since: timestamp.describe("Of deliveries that were made at this moment or later."),
      })
      .meta({ id: "WebhookRecoveryStart", description: "Which deliveries to queue again." }),
  },
  responses: {
    202: {
      description: "How many were queued; hasMore says whether to call again.",
      data: recoverySchema,
    },
  },
  errors: ["NOT_FOUND", "INVALID_STATE"],
  handler: async ({ webhookEndpoints, call }, { params, body }) => {
    const { requeued, hasMore } = await webhookEndpoints.recoverEndpoint(
      { endpointId: params.id, since: body.since },
      call,
    );
    return { status: 202, data: { requeued, hasMore } };
  },
});
