import { z } from "zod";
import {
  anyJson,
  anyObject,
  prefixedId,
  timeText,
  uuidText,
  wholeNumber,
} from "../answer-schemas.ts";
import { endpointStatus } from "./endpoint-fields.ts";

export const endpointIdSchema = prefixedId("whe_").describe("The endpoint's id.");

/** The type of an event. */
export const eventTypeSchema = z
  .string()
  .describe("One of GET /webhook-event-types.")
  .meta({ examples: ["workflow.completed"] });

const endpointFields = {
  id: endpointIdSchema,
  name: z
    .string()
    .describe("1 to 255 characters.")
    .meta({ examples: ["Back office"] }),
  url: z
    .string()
    .describe("Where deliveries go, as it was given: its host may be in any script.")
    .meta({
      examples: ["https://hooks.example.com/workflows"],
    }),
  events: z.array(eventTypeSchema).nullable().describe("The types that it gets; null: all."),
  workflowIds: z
    .array(uuidText)
    .nullable()
    .describe("The workflows of whose runs it hears; null: all."),
  headers: z
    .record(z.string(), z.string())
    .describe("Sent with each delivery; `{}` without any.")
    .meta({ examples: [{ "X-Environment": "production" }] }),
  description: z.string().nullable().describe("For people; null: none."),
  status: endpointStatus,
  disabledReason: z
    .enum(["consecutive_failures", "gone", "caller"])
    .nullable()
    .describe(
      "Why it is disabled: its receiver failed 10 times in a row, answered 410, or a caller said so; null while it is active.",
    ),
  disabledAt: timeText.nullable().describe("When it was disabled; null while it is active."),
  consecutiveFailures: wholeNumber.describe("Failed attempts since the last success."),
  rateLimitPerSecond: z
    .int()
    .min(1)
    .max(1_000)
    .nullable()
    .describe("Attempts a second at most; null: no limit of this kind."),
  oldSecretExpiresAt: timeText
    .nullable()
    .describe("Until when the secret before signs, too; null: it does not."),
  createdAt: timeText,
  updatedAt: timeText,
};

/** An endpoint without its secret. */
export const endpointSchema = z.strictObject(endpointFields).meta({
  id: "WebhookEndpoint",
  description: "An address that gets the events of runs, without its secret.",
});

/** An endpoint with the secret that only this answer shows. */
export const endpointWithSecretSchema = z
  .strictObject({
    ...endpointFields,
    secret: z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/]{43}=$/)
      .describe("What deliveries are signed with; shown in this answer alone.")
      .meta({ examples: ["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDxJ2Z0mC4Kzo="] }),
  })
  .meta({
    id: "WebhookEndpointWithSecret",
    description: "An address that gets the events of runs, with its new secret.",
  });

/** The result of a test. */
export const endpointTestSchema = z
  .strictObject({
    success: z.boolean().describe("Whether the receiver answered 2xx."),
    statusCode: z
      .int()
      .nullable()
      .describe("The status of its answer; null: there was none.")
      .meta({ examples: [200] }),
    responseBody: z
      .string()
      .nullable()
      .describe("The beginning of its body as text, at most 4 KiB; null: there was no answer.")
      .meta({ examples: ["ok"] }),
    durationMs: wholeNumber.describe("How long the attempt took, in milliseconds."),
    deliveryId: prefixedId("whd_").describe("The delivery that records it."),
    error: z
      .string()
      .nullable()
      .describe("Why there was no answer, for people; null: there was one."),
  })
  .meta({ id: "WebhookTestResult", description: "What came of a test of an endpoint." });

/** The number of deliveries that were queued again. */
export const recoverySchema = z
  .strictObject({
    requeued: z.int().min(0).max(10_000).describe("How many deliveries were queued again."),
    hasMore: z.boolean().describe("Whether there are more: call again."),
  })
  .meta({ id: "WebhookRecovery", description: "What was queued again." });

/** A type of event that endpoints can receive. */
export const eventTypeInfoSchema = z
  .strictObject({
    type: eventTypeSchema.describe("What the event is called."),
    description: z
      .string()
      .describe("When it happens.")
      .meta({
        examples: ["A run completed successfully."],
      }),
    schema: anyObject
      .describe("JSON Schema (2020-12) of the body of its deliveries.")
      .meta({ examples: [{ type: "object" }] }),
    example: anyJson
      .describe("A body that fits the schema.")
      .meta({ examples: [{ type: "workflow.completed" }] }),
  })
  .meta({ id: "WebhookEventType", description: "A type of events that endpoints can get." });
