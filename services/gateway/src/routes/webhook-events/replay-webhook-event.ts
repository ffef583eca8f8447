import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { eventListItemJson } from "./event-json.ts";
import { listedEventSchema } from "./event-schema.ts";

export const replayWebhookEvent = route({
  method: "POST",
  path: "/webhook-events/{id}/replay",
  scope: "workflows:execute",
  bucket: "execute",
  audit: "webhook_event.replayed",
  summary: "Replay an inbound event",
  description: [
    "A new event is made of the old one, for the workflows that match now.",
    "It starts runs even where the old one did, and names it in `replayedFrom`.",
    "The answer comes before the runs are started; read the new event to see them.",
  ],
  params: { id: "The event's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    202: {
      description: "The new event without its payload; it names the one that it replays.",
      data: listedEventSchema,
    },
  },
  errors: ["NOT_FOUND", "INVALID_STATE"],
  handler: async ({ inboundEvents, call, identity }, { params }) => {
    const event = await inboundEvents.replayInboundEvent({ eventId: params.id }, call);
    return { status: 202, data: eventListItemJson(event, identity.companyId) };
  },
});
