import { DeliveryStatus as MessageStatus } from "@workflow/proto/webhooks/v1/deliveries";
import type { Delivery, DeliveryAttempt } from "@workflow/proto/webhooks/v1/deliveries";
import type { DeliveryRow, DeliveryStatus, WholeDelivery } from "../store/endpoint-deliveries.ts";

/** The statuses of a delivery by their names in rows. */
export const MESSAGE_STATUS = {
  pending: MessageStatus.PENDING,
  succeeded: MessageStatus.SUCCEEDED,
  failed: MessageStatus.FAILED,
} as const satisfies Record<DeliveryStatus, MessageStatus>;

/**
 * A delivery as lists show it.
 *
 * @param isEndpointDisabled then no attempt is due
 */
export function toDeliveryMessage(row: DeliveryRow, isEndpointDisabled: boolean): Delivery {
  return {
    id: row.id,
    endpointId: row.endpointId,
    eventId: row.eventId,
    eventType: row.eventType,
    workflowId: row.workflowId ?? undefined,
    runId: row.runId ?? undefined,
    status: MESSAGE_STATUS[row.status],
    attemptCount: row.attemptCount,
    maxAttempts: row.maxAttempts,
    nextAttemptAt: isEndpointDisabled ? undefined : (row.nextAttemptAt ?? undefined),
    lastStatusCode: row.lastStatusCode ?? undefined,
    lastError: row.lastError ?? undefined,
    durationMs: row.durationMs ?? undefined,
    createdAt: row.createdAt,
    deliveredAt: row.deliveredAt ?? undefined,
    request: undefined,
    attempts: [],
  };
}

/** One recorded attempt. */
export function toAttemptMessage(attempt: WholeDelivery["attempts"][number]): DeliveryAttempt {
  return {
    number: attempt.number,
    at: new Date(attempt.at),
    statusCode: attempt.statusCode ?? undefined,
    durationMs: attempt.durationMs,
    error: attempt.error ?? undefined,
    responseBody: attempt.responseBody ?? undefined,
  };
}
