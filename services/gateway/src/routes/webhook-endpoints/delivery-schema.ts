import { z } from "zod";
import { prefixedId, timeText, uuidText, wholeNumber } from "../answer-schemas.ts";
import { deliveryStatus } from "./delivery-json.ts";
import { endpointIdSchema, eventTypeSchema } from "./endpoint-schema.ts";

const deliveryFields = {
  id: prefixedId("whd_").describe("The delivery's id."),
  endpointId: endpointIdSchema.describe("The endpoint that it goes to."),
  eventId: prefixedId("evt_").describe("The event: X-Webhook-ID, the same on each attempt."),
  eventType: eventTypeSchema,
  workflowId: uuidText
    .nullable()
    .describe("The workflow that the event is about; null: it is about none."),
  runId: prefixedId("run_")
    .nullable()
    .describe("The run that it is about; null: it is about none."),
  status: deliveryStatus,
  attemptCount: wholeNumber.describe("How many attempts were made."),
  maxAttempts: z
    .int()
    .min(1)
    .describe("How many there may be: 8, of a test 1; retries by hand add theirs.")
    .meta({ examples: [8] }),
  nextAttemptAt: timeText
    .nullable()
    .describe("When the next attempt is due; null: none is, or the delivery is held."),
  lastStatusCode: z
    .int()
    .nullable()
    .describe("The status of the last answer; null: there was none.")
    .meta({ examples: [200] }),
  lastError: z
    .string()
    .nullable()
    .describe("What was wrong with the last attempt, for people; null after a success."),
  durationMs: wholeNumber
    .nullable()
    .describe("How long the last attempt took, in milliseconds; null before it."),
  createdAt: timeText,
  deliveredAt: timeText.nullable().describe("When it succeeded; null otherwise."),
};

/** A delivery as lists show it. */
export const deliverySchema = z.strictObject(deliveryFields).meta({
  id: "WebhookDelivery",
  description: "One event on its way to one endpoint.",
});

const attemptSchema = z
  .strictObject({
    number: z.int().min(1).describe("From 1, over retries by hand, too."),
    at: timeText.describe("When it began."),
    statusCode: z
      .int()
      .nullable()
      .describe("The status of the answer; null: there was none.")
      .meta({ examples: [200] }),
    durationMs: wholeNumber.describe("How long it took, in milliseconds."),
    error: z.string().nullable().describe("Why it has failed, for people; null after a success."),
    responseBody: z
      .string()
      .nullable()
      .describe("The beginning of the answer as text, at most 4 KiB; null: there was none.")
      .meta({ examples: ["ok"] }),
  })
  .meta({ id: "WebhookAttempt", description: "One attempt of a delivery." });

/** A delivery with the request that was sent and the response that came back. */
export const wholeDeliverySchema = z
  .strictObject({
    ...deliveryFields,
    request: z
      .strictObject({
        url: z
          .string()
          .nullable()
          .describe("The address of the last attempt, before it that of the endpoint.")
          .meta({ examples: ["https://hooks.example.com/workflows"] }),
        headers: z
          .record(z.string(), z.string())
          .describe("As they were sent last; signatures and values of custom headers are `••••`.")
          .meta({ examples: [{ "X-Webhook-ID": "evt_01kg9d1m3cexw9f1c3f4r7m2qa" }] }),
        body: z
          .string()
          .nullable()
          .describe("To the byte what is signed; null: it is not made yet.")
          .meta({ examples: ['{"id":"evt_01kg9d1m3cexw9f1c3f4r7m2qa"}'] }),
      })
      .meta({ id: "WebhookRequest", description: "What was sent, or will be." }),
    attempts: z.array(attemptSchema).describe("The oldest first, at most the last 50."),
  })
  .meta({
    id: "WholeWebhookDelivery",
    description: "One event on its way to one endpoint, with its request and attempts.",
  });
