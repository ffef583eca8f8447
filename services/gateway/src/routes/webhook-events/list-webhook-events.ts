import { InboundEventStatus, SignatureVerified } from "@workflow/proto/webhooks/v1/events";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageFields, timestamp } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { EVENT_STATUSES, eventListItemJson, SIGNATURES } from "./event-json.ts";
import { eventStatus, listedEventSchema, signatureVerified } from "./event-schema.ts";
import { pageMetaSchema } from "../answer-schemas.ts";

const name = z.string().max(255, "must have at most 255 characters").default("");

export const listWebhookEvents = route({
  method: "GET",
  path: "/webhook-events",
  scope: "runs:read",
  bucket: "read",
  summary: "List inbound events",
  description: [
    "Everything that came in for the company by a webhook is here, the newest first, whether it started runs or not.",
    "`status=ignored` lists those that no workflow waited for.",
  ],
  params: {},
  query: z.object({
    provider: name.describe("Only events of this provider; empty: of all."),
    status: eventStatus.optional().describe("Only events of this status."),
    eventType: name.describe("Only events of this type; empty: of all."),
    signatureVerified: signatureVerified
      .optional()
      .describe("Only events whose sender is known so far."),
    createdAfter: timestamp
      .optional()
      .describe("Only events that came in at this moment or later."),
    createdBefore: timestamp.optional().describe("Only events that came in before this moment."),
    ...pageFields,
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: "A page of events, without their payloads.",
      data: z.array(listedEventSchema),
      meta: pageMetaSchema,
    },
  },
  handler: async ({ inboundEvents, call, identity }, { query }) => {
    const { provider, eventType, status, signatureVerified: signature, limit, cursor } = query;
    const { events, page } = await inboundEvents.listInboundEvents(
      {
        provider,
        eventType,
        createdAfter: query.createdAfter,
        createdBefore: query.createdBefore,
        status: status === undefined ? InboundEventStatus.UNSPECIFIED : EVENT_STATUSES[status],
        signatureVerified:
          signature === undefined ? SignatureVerified.UNSPECIFIED : SIGNATURES[signature],
        page: { limit, cursor },
      },
      call,
    );
    const data = events.map((event) => eventListItemJson(event, identity.companyId));
    return { status: 200, data, meta: pageMeta(page) };
  },
});
