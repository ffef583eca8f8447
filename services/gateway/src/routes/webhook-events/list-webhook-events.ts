import { InboundEventStatus, SignatureVerified } from "@workflow/proto/webhooks/v1/events";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageFields, timestamp } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { EVENT_STATUSES, eventListItemJson, SIGNATURES } from "./event-json.ts";

const name = z.string().max(255, "must have at most 255 characters").default("");

export const listWebhookEvents = route({
  method: "GET",
  path: "/webhook-events",
  scope: "runs:read",
  bucket: "read",
  summary: "List the inbound events that were kept, newest first",
  params: {},
  query: z.object({
    provider: name,
    status: z.enum(["received", "processing", "processed", "failed", "ignored"]).optional(),
    eventType: name,
    signatureVerified: z.enum(["pending", "verified", "failed", "skipped"]).optional(),
    createdAfter: timestamp.optional(),
    createdBefore: timestamp.optional(),
    ...pageFields,
  }),
  body: NO_BODY,
  responses: { 200: "A page of events, without their payloads." },
  handler: async ({ inboundEvents, call, identity }, { query }) => {
    const { provider, eventType, status, signatureVerified, limit, cursor } = query;
    const { events, page } = await inboundEvents.listInboundEvents(
      {
        provider,
        eventType,
        createdAfter: query.createdAfter,
        createdBefore: query.createdBefore,
        status: status === undefined ? InboundEventStatus.UNSPECIFIED : EVENT_STATUSES[status],
        signatureVerified:
          signatureVerified === undefined
            ? SignatureVerified.UNSPECIFIED
            : SIGNATURES[signatureVerified],
        page: { limit, cursor },
      },
      call,
    );
    const data = events.map((event) => eventListItemJson(event, identity.companyId));
    return { status: 200, data, meta: pageMeta(page) };
  },
});
