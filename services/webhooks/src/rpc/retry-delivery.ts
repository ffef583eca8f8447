import { isId } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Delivery, RetryDeliveryRequest } from "@workflow/proto/webhooks/v1/deliveries";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { DELIVERY_ID_PREFIX } from "../domain/endpoint.ts";
import { deliveryEntry } from "../endpoints/endpoint-audit.ts";
import {
  deliveryNotFound,
  endpointDisabled,
  getEndpointRow,
  requireEndpointKey,
} from "../endpoints/find-endpoint.ts";
import { findDelivery, requeueDelivery } from "../store/endpoint-deliveries.ts";
import type { DeliveryKey } from "../store/endpoint-deliveries.ts";
import { announceEndpoint } from "../store/lanes.ts";
import { toDeliveryMessage } from "./delivery-message.ts";

/** Queues one delivery again, due at once, whether it has failed, waits, or has succeeded. */
export function retryDelivery(
  context: ServiceContext,
): UnaryMethod<RetryDeliveryRequest, Delivery> {
  const { writes, audit } = context;
  return rpc({
    scopes: "workflows:write",
    async handler({ endpointId, deliveryId }, call) {
      const key = { ...requireEndpointKey(endpointId, call), deliveryId };
      if (!isId(DELIVERY_ID_PREFIX, deliveryId)) throw deliveryNotFound();
      const row = await writes.transaction(call, async (transaction) => {
        const requeued = await requeueDelivery(transaction, key);
        if (requeued === null) throw await whyNot(transaction, key);
        await announceEndpoint(transaction, key);
        const { eventId, eventType } = requeued;
        const entry = deliveryEntry(deliveryId, { endpointId, eventId, eventType });
        await audit.record(transaction, call, entry);
        return requeued;
      });
      audit.wake();
      return toDeliveryMessage(row, false);
    },
  });
}

async function whyNot(transaction: Transaction, key: DeliveryKey): Promise<AppError> {
  const endpoint = await getEndpointRow(transaction, key);
  const delivery = await findDelivery(transaction, key);
  if (delivery === null) return deliveryNotFound();
  if (delivery.isTest) {
    return new AppError("INVALID_STATE", "A test is not sent again; test the endpoint once more.");
  }
  if (endpoint.status === "disabled") return endpointDisabled();
  return new AppError("UNAVAILABLE", "The delivery is just being changed; try again.");
}
