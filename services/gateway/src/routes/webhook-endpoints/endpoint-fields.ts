import { z } from "zod";

/** The name of an event type; the webhooks service refuses unknown ones. */
export const eventTypeName = z.string().meta({ examples: ["workflow.completed"] });

const RATE_MAX = 1_000;
const WORKFLOWS_MAX = 100;

/** The fields of an endpoint in bodies of create and update; the webhooks service checks most limits. */
export const endpointFields = {
  name: z
    .string()
    .describe("1 to 255 characters.")
    .meta({ minLength: 1, maxLength: 255, examples: ["Back office"] }),
  url: z
    .string()
    .describe("https to a public address, at most 2,048 characters.")
    .meta({ maxLength: 2_048, examples: ["https://hooks.example.com/workflows"] }),
  events: z
    .array(eventTypeName)
    .min(1, "must name at least one; null stands for all")
    .meta({ uniqueItems: true })
    .nullish()
    .describe("Of GET /webhook-event-types; null: all.")
    .meta({ examples: [["workflow.completed", "workflow.failed"]] }),
  workflowIds: z
    .array(z.string().meta({ format: "uuid" }))
    .min(1, "must name at least one; null stands for all")
    .meta({ maxItems: WORKFLOWS_MAX, uniqueItems: true })
    .nullish()
    .describe(`At most ${WORKFLOWS_MAX} workflows of whose runs it hears; null: all.`)
    .meta({ examples: [null] }),
  headers: z
    .preprocess(
      refuseProto,
      z.record(z.string(), z.string()).meta({ override: { maxProperties: 20 } }),
    )
    .nullish()
    .describe(
      "At most 20, sent with each delivery; names and values of 4,096 characters together. None that a delivery sets itself.",
    )
    .meta({ examples: [{ "X-Environment": "production" }] }),
  description: z
    .string()
    .meta({ maxLength: 1_000 })
    .nullish()
    .describe("For people, at most 1,000 characters; null: none."),
  rateLimitPerSecond: z
    .number()
    .refine(
      (rate) => Number.isInteger(rate) && rate >= 1 && rate <= RATE_MAX,
      `must be a whole number from 1 to ${RATE_MAX}`,
    )
    .meta({ override: { type: "integer", minimum: 1, maximum: RATE_MAX } })
    .nullish()
    .describe("Deliveries a second at most, 1 to 1,000; null: no limit of this kind.")
    .meta({ examples: [20] }),
};

/** A header named `__proto__` would get lost without notice when the headers are copied. */
function refuseProto(headers: unknown, context: z.RefinementCtx): unknown {
  const isThere = typeof headers === "object" && headers !== null;
  if (isThere && Object.hasOwn(headers, "__proto__")) {
    context.addIssue({ code: "custom", message: "is no name of a header", path: ["__proto__"] });
  }
  return headers;
}

/** Whether an endpoint gets deliveries. */
export const endpointStatus = z.enum(["active", "disabled"]).meta({
  id: "WebhookEndpointStatus",
  description:
    "disabled: it gets nothing. A caller said so; or its receiver failed, and events are held until it is active again.",
  examples: ["active"],
});
