import type {
  ListInboundEventsRequest,
  ListInboundEventsResponse,
} from "@workflow/proto/webhooks/v1/events";
import { parseTime, rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { listEvents } from "../store/inbound-events.ts";
import type { EventFilter } from "../store/inbound-events.ts";
import { signatureName, statusName, toListedMessage } from "./inbound-event-message.ts";
import { parseLimit } from "./page-limit.ts";

/** Lists the company's inbound events, newest first (D6). */
export function listInboundEvents({
  database,
  cursors,
}: Pick<ServiceContext, "database" | "cursors">): UnaryMethod<
  ListInboundEventsRequest,
  ListInboundEventsResponse
> {
  return rpc({
    scopes: "runs:read",
    async handler(request, { identity }) {
      const companyId = identity.companyId.toLowerCase();
      const limit = parseLimit(request.page?.limit ?? 0);
      const filter = toFilter(request);
      const binding = JSON.stringify(["inboundEvents", companyId, filter]);
      const cursor = request.page?.cursor ?? "";
      const [after = null] = cursor === "" ? [] : cursors.decode(binding, cursor);
      const { events, hasMore } = await listEvents(database, { companyId, limit, after, filter });
      const last = hasMore ? events.at(-1) : undefined;
      return {
        events: events.map(toListedMessage),
        page: { cursor: last ? cursors.encode(binding, [last.id]) : "", hasMore },
      };
    },
  });
}

function toFilter(request: ListInboundEventsRequest): EventFilter {
  return {
    provider: request.provider === "" ? null : request.provider,
    status: statusName(request.status),
    eventType: request.eventType === "" ? null : request.eventType,
    signature: signatureName(request.signatureVerified),
    createdAfter: parseTime("createdAfter", request.createdAfter),
    createdBefore: parseTime("createdBefore", request.createdBefore),
  };
}
