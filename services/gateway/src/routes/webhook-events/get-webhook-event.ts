import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { eventJson } from "./event-json.ts";
import { eventSchema } from "./event-schema.ts";

/** The size limit of an inbound webhook; escaping makes a few payloads longer as JSON. */
const PAYLOAD_BYTES = 1024 * 1024;
/** Smaller payloads do not count toward the memory of large answers. */
const SMALL_BYTES = 64 * 1024;

export const getWebhookEvent = route({
  method: "GET",
  path: "/webhook-events/{id}",
  scope: "runs:read",
  bucket: "read",
  summary: "Get an inbound event",
  description: ["The answer has the payload as it came, and the runs that it started."],
  params: { id: "The event's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description: "The event.",
      data: eventSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ inboundEvents, largeAnswers, call, identity: { companyId } }, { params }) => {
    const onOver = await largeAnswers.take(companyId, PAYLOAD_BYTES, call.signal);
    let isHeld = false;
    try {
      const event = await inboundEvents.getInboundEvent({ eventId: params.id }, call);
      const data = eventJson(event, companyId);
      isHeld = (event.payloadJson?.length ?? 0) > SMALL_BYTES;
      return { status: 200, data, ...(isHeld ? { onOver } : {}) };
    } finally {
      if (!isHeld) onOver();
    }
  },
});
