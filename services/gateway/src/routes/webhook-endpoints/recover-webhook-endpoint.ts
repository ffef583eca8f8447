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
  summary: "Queue failed deliveries again",
  description: [
    "Up to 10,000 failed deliveries since a time are queued, the newest first; `hasMore` says whether to call again.",
    "Deliveries that succeeded or are pending are not touched.",
  ],
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
