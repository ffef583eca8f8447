import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { EVENT_ID_PREFIX } from "@workflow/events";
import type { GetInboundEventRequest, InboundEvent } from "@workflow/proto/webhooks/v1/events";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { findEvent } from "../store/inbound-events.ts";
import { toWholeMessage } from "./inbound-event-message.ts";

/** One inbound event with its payload. */
export function getInboundEvent({
  database,
}: Pick<ServiceContext, "database">): UnaryMethod<GetInboundEventRequest, InboundEvent> {
  return rpc({
    scopes: "runs:read",
    async handler({ eventId }, { identity }) {
      const companyId = identity.companyId.toLowerCase();
      const event = isId(EVENT_ID_PREFIX, eventId)
        ? await findEvent(database, { companyId, eventId })
        : null;
      if (event === null) throw eventNotFound();
      return toWholeMessage(event);
    },
  });
}

/** The error for an event that the company does not have. */
export function eventNotFound(): AppError {
  return new AppError("NOT_FOUND", "Webhook event not found");
}
