import { changesBetween } from "@workflow/audit";
import type { AuditEntry } from "@workflow/audit";
import { isId, newId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { EVENT_ID_PREFIX } from "@workflow/events";
import type { InboundEvent, ReplayInboundEventRequest } from "@workflow/proto/webhooks/v1/events";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { findEvent, insertReplay } from "../store/inbound-events.ts";
import type { InboundEventKey, WholeEvent } from "../store/inbound-events.ts";
import { eventNotFound } from "./get-inbound-event.ts";
import { toWholeMessage } from "./inbound-event-message.ts";

/** Stores a copy of an event as a new event. Its runs start soon after. */
export function replayInboundEvent(
  context: ServiceContext,
): UnaryMethod<ReplayInboundEventRequest, InboundEvent> {
  const { database, audit, inbound } = context;
  return rpc({
    scopes: "workflows:execute",
    async handler({ eventId }, call) {
      const companyId = call.identity.companyId.toLowerCase();
      if (!isId(EVENT_ID_PREFIX, eventId)) throw eventNotFound();
      inbound.backlog.check([companyId]);
      const key = { companyId, eventId };
      const replay = await insertAudited(context, call, key);
      if (replay === null) throw whyNot(await findEvent(database, key));
      inbound.wakeSweeper();
      audit.wake();
      return toWholeMessage(replay);
    },
  });
}

function insertAudited(
  { database, audit }: ServiceContext,
  call: RpcContext,
  key: InboundEventKey,
): Promise<WholeEvent | null> {
  return database.transaction(async (transaction) => {
    const { requestId } = call;
    const replay = { id: newId(EVENT_ID_PREFIX), requestId };
    const event = await insertReplay(transaction, key, replay);
    if (event !== null) await audit.record(transaction, call, toEntry(event));
    return event;
  });
}

function toEntry({ id, provider, eventType, replayedFrom }: WholeEvent): AuditEntry {
  return {
    action: "webhook_event.replayed",
    resourceType: "webhook_event",
    resourceId: id,
    changes: changesBetween({}, { replayedFrom, provider, eventType }),
  };
}

/** The reason why an event could not be replayed. */
function whyNot(event: WholeEvent | null): AppError {
  if (event === null) return eventNotFound();
  const { status, payloadJson } = event;
  if (status === "received" || status === "processing") {
    return new AppError("INVALID_STATE", "The event is still being processed.");
  }
  if (payloadJson === null) {
    return new AppError("INVALID_STATE", "The event's payload is not kept any more.");
  }
  return new AppError("INVALID_STATE", "An event whose sender is unknown cannot be replayed.");
}
