import { z } from "zod";

/** Every type that there is; the service says which is not known. */
export const eventTypeName = z.string();

const RATE_MAX = 1_000;

/** The fields of an endpoint in bodies of create and update; most limits are the service's to judge. */
export const endpointFields = {
  name: z.string().describe("1 to 255 characters."),
  url: z.string().describe("https to a public address, at most 2,048 characters."),
  events: z
    .array(eventTypeName)
    .min(1, "must name at least one; null stands for all")
    .nullish()
    .describe("Of GET /webhook-event-types; null: all."),
  workflowIds: z
    .array(z.string())
    .min(1, "must name at least one; null stands for all")
    .nullish()
    .describe("At most 100 workflows of whose runs it hears; null: all."),
  headers: z
    .preprocess(refuseProto, z.record(z.string(), z.string()))
    .nullish()
    .describe(
      "At most 20, sent with each delivery; names and values of 4,096 characters together.",
    ),
  description: z.string().nullish().describe("At most 1,000 characters."),
  rateLimitPerSecond: z
    .number()
    .refine(
      (rate) => Number.isInteger(rate) && rate >= 1 && rate <= RATE_MAX,
      `must be a whole number from 1 to ${RATE_MAX}`,
    )
    .nullish()
    .describe("Deliveries a second at most, 1 to 1,000; null: no limit of this kind."),
};

/** A copy of the headers would lose one of this name, and nobody would know. */
function refuseProto(headers: unknown, context: z.RefinementCtx): unknown {
  const isThere = typeof headers === "object" && headers !== null;
  if (isThere && Object.hasOwn(headers, "__proto__")) {
    context.addIssue({ code: "custom", message: "is no name of a header", path: ["__proto__"] });
  }
  return headers;
}

/** Whether an endpoint gets deliveries. */
export const endpointStatus = z.enum(["active", "disabled"]);
