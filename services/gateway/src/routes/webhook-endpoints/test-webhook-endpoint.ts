import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { eventTypeName } from "./endpoint-fields.ts";
import { endpointTestSchema } from "./endpoint-schema.ts";

/** 5 s to wait for a turn, 15 s for the receiver (D46), and a margin. */
const TIMEOUT_MS = 25_000;

export const testWebhookEndpoint = route({
  method: "POST",
  path: "/webhook-endpoints/{id}/test",
  scope: "workflows:write",
  bucket: "write",
  audit: "webhook_endpoint.tested",
  summary: "Send a test to a webhook endpoint",
  description: [
    "The example of an event type is sent now, whatever the endpoint's status, and the answer says what came back.",
    "It is 200 also when the receiver refused or could not be reached: see `success`, `statusCode` and `error`.",
    "The test stands among the deliveries, and is not repeated.",
    "24 tests of a company may be under way, else RATE_LIMITED with `details.limit` `tests`.",
  ],
  params: { id: "The endpoint's id." },
  query: NO_QUERY,
  body: {
    schema: z
      .object({
        eventType: eventTypeName
          .min(1, "must be one of the types of GET /webhook-event-types")
          .nullish()
          .describe("Of GET /webhook-event-types; workflow.completed by default."),
      })
      .meta({ id: "WebhookTest", description: "What to send to an endpoint for a test." }),
    optional: true,
  },
  responses: {
    200: {
      description: "What came back, or why nothing did.",
      data: endpointTestSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ webhookEndpoints, call }, { params, body }) => {
    const result = await webhookEndpoints.testEndpoint(
      { endpointId: params.id, eventType: body.eventType ?? "" },
      { ...call, timeoutMs: TIMEOUT_MS },
    );
    return {
      status: 200,
      data: {
        success: result.success,
        statusCode: result.statusCode ?? null,
        responseBody: result.responseBody ?? null,
        durationMs: result.durationMs,
        deliveryId: result.deliveryId,
        error: result.error ?? null,
      },
    };
  },
});
