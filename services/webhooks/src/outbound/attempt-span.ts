import type { Span, Tracer } from "@workflow/tracing";
import type { WaitingDelivery } from "../store/deliveries.ts";
import type { LeasedLane } from "../store/lane-leases.ts";
import type { AttemptOutcome } from "./attempt.ts";

/** The span of an attempt of a delivery, in the trace of its event. */
export function beginAttemptSpan(
  tracer: Tracer | undefined,
  { companyId, endpointId }: LeasedLane,
  { id, eventId, attemptCount }: WaitingDelivery,
  traceparent: string | null,
): Span | undefined {
  return tracer?.span("webhook delivery", traceparent, {
    attributes: {
      "workflow.company.id": companyId,
      "workflow.delivery.id": id,
      "workflow.delivery.attempt": attemptCount + 1,
      "workflow.endpoint.id": endpointId,
      "workflow.event.id": eventId,
    },
  });
}

export function endAttemptSpan(span: Span, { statusCode, error }: AttemptOutcome): void {
  span.set({ "http.response.status_code": statusCode ?? undefined });
  span.end(error === null ? undefined : String(statusCode ?? "NO_ANSWER"));
}
