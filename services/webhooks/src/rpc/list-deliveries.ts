import { DeliveryStatus as MessageStatus } from "@workflow/proto/webhooks/v1/deliveries";
import type {
  ListDeliveriesRequest,
  ListDeliveriesResponse,
} from "@workflow/proto/webhooks/v1/deliveries";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { getEndpointRow, requireEndpointKey } from "../endpoints/find-endpoint.ts";
import { wrongField } from "../endpoints/wrong-field.ts";
import { findEventType } from "../event-types/event-types.ts";
import { DELIVERY_STATUSES, listDeliveries as listRows } from "../store/endpoint-deliveries.ts";
import type { DeliveryStatus } from "../store/endpoint-deliveries.ts";
import { MESSAGE_STATUS, toDeliveryMessage } from "./delivery-message.ts";
import { parsePage, toPageInfo } from "./page-request.ts";

/** The deliveries of an endpoint, newest first (D6). A page may be short although there is more. */
export function listDeliveries({
  database,
  cursors,
}: ServiceContext): UnaryMethod<ListDeliveriesRequest, ListDeliveriesResponse> {
  return rpc({
    scopes: "workflows:read",
    async handler(request, call) {
      const status = parseStatus(request.status);
      const eventType = parseType(request.eventType);
      const { companyId } = call.identity;
      const binding = JSON.stringify([
        "webhook-deliveries",
        companyId.toLowerCase(),
        request.endpointId,
        status,
        eventType,
      ]);
      const start = parsePage(cursors, binding, request.page);
      const key = requireEndpointKey(request.endpointId, call);
      const endpoint = await getEndpointRow(database, key);
      const page = await listRows(database, { ...key, status, eventType, ...start });
      const isEndpointDisabled = endpoint.status === "disabled";
      return {
        deliveries: page.rows.map((row) => toDeliveryMessage(row, isEndpointDisabled)),
        page: toPageInfo(cursors, binding, page.lastId),
      };
    },
  });
}

/** Null: any status. */
function parseStatus(status: MessageStatus): DeliveryStatus | null {
  if (status === MessageStatus.UNSPECIFIED) return null;
  const known = DELIVERY_STATUSES.find((each) => MESSAGE_STATUS[each] === status);
  if (known !== undefined) return known;
  throw wrongField("status", `must be one of ${DELIVERY_STATUSES.join(", ")}`);
}

/** Null: any type. */
function parseType(type: string): string | null {
  if (type === "") return null;
  if (findEventType(type) === undefined) {
    throw wrongField("eventType", "must be one of GET /webhook-event-types");
  }
  return type;
}
