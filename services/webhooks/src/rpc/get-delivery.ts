import { isId } from "@workflow/db";
import type { Delivery, GetDeliveryRequest } from "@workflow/proto/webhooks/v1/deliveries";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { DELIVERY_ID_PREFIX } from "../domain/endpoint.ts";
import {
  deliveryNotFound,
  getEndpointRow,
  requireEndpointKey,
} from "../endpoints/find-endpoint.ts";
import { openEndpoint } from "../endpoints/open-endpoint.ts";
import { shownHeaders } from "../endpoints/shown-headers.ts";
import { findDelivery } from "../store/endpoint-deliveries.ts";
import { toAttemptMessage, toDeliveryMessage } from "./delivery-message.ts";

/** One delivery with its request and its attempts. */
export function getDelivery({
  database,
  ring,
}: ServiceContext): UnaryMethod<GetDeliveryRequest, Delivery> {
  return rpc({
    scopes: "workflows:read",
    async handler({ endpointId, deliveryId }, call) {
      const key = requireEndpointKey(endpointId, call);
      if (!isId(DELIVERY_ID_PREFIX, deliveryId)) throw deliveryNotFound();
      const endpoint = await getEndpointRow(database, key);
      const delivery = await findDelivery(database, { ...key, deliveryId });
      if (delivery === null) throw deliveryNotFound();
      const { headers } = await openEndpoint(ring, endpoint);
      const last = delivery.attempts.at(-1);
      return {
        ...toDeliveryMessage(delivery, endpoint.status === "disabled"),
        request: {
          url: last?.url ?? endpoint.url,
          headers: shownHeaders(headers, delivery.eventId, last && new Date(last.at)),
          body: delivery.body ?? undefined,
        },
        attempts: delivery.attempts.map(toAttemptMessage),
      };
    },
  });
}
