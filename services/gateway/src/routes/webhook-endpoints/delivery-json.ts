import { DeliveryStatus } from "@workflow/proto/webhooks/v1/deliveries";
import type { Delivery } from "@workflow/proto/webhooks/v1/deliveries";
import { z } from "zod";
import type { Writable } from "../../http/write-json.ts";

/** The status of a delivery. */
export const deliveryStatus = z.enum(["pending", "succeeded", "failed"]).meta({
  id: "WebhookDeliveryStatus",
  description:
    "pending: it is to be attempted, or held while its endpoint is disabled. succeeded: the receiver answered 2xx. failed: it is not attempted any more.",
  examples: ["succeeded"],
});

/** The statuses of a delivery by their names in the REST contract. */
export const DELIVERY_STATUSES = {
  pending: DeliveryStatus.PENDING,
  succeeded: DeliveryStatus.SUCCEEDED,
  failed: DeliveryStatus.FAILED,
} as const satisfies Record<z.output<typeof deliveryStatus>, DeliveryStatus>;

const STATUS_NAMES = new Map<DeliveryStatus, string>(
  Object.entries(DELIVERY_STATUSES).map(([name, status]) => [status, name]),
);

/** A delivery as lists show it (D49). */
export function deliveryJson(delivery: Delivery): { readonly [field: string]: Writable } {
  return {
    id: delivery.id,
    endpointId: delivery.endpointId,
    eventId: delivery.eventId,
    eventType: delivery.eventType,
    workflowId: delivery.workflowId ?? null,
    runId: delivery.runId ?? null,
    status: STATUS_NAMES.get(delivery.status) ?? "unknown",
    attemptCount: delivery.attemptCount,
    maxAttempts: delivery.maxAttempts,
    nextAttemptAt: delivery.nextAttemptAt ?? null,
    lastStatusCode: delivery.lastStatusCode ?? null,
    lastError: delivery.lastError ?? null,
    durationMs: delivery.durationMs ?? null,
    createdAt: delivery.createdAt,
    deliveredAt: delivery.deliveredAt ?? null,
  };
}

/** A delivery with the request that was sent and the response that came back. */
export function wholeDeliveryJson(delivery: Delivery): Writable {
  const { request, attempts } = delivery;
  return {
    ...deliveryJson(delivery),
    request: {
      url: request?.url ?? null,
      headers: request?.headers ?? {},
      // The body stays a text, because the signature covers exactly these bytes.
      body: request?.body ?? null,
    },
    attempts: attempts.map((attempt) => ({
      number: attempt.number,
      at: attempt.at,
      statusCode: attempt.statusCode ?? null,
      durationMs: attempt.durationMs,
      error: attempt.error ?? null,
      responseBody: attempt.responseBody ?? null,
    })),
  };
}
