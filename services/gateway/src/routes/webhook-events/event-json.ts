import { InboundEventStatus, SignatureVerified } from "@workflow/proto/webhooks/v1/events";
import type { InboundEvent } from "@workflow/proto/webhooks/v1/events";
import { rawOrNull } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";

/** The statuses of an event by their names in the API. */
export const EVENT_STATUSES = {
  received: InboundEventStatus.RECEIVED,
  processing: InboundEventStatus.PROCESSING,
  processed: InboundEventStatus.PROCESSED,
  failed: InboundEventStatus.FAILED,
  ignored: InboundEventStatus.IGNORED,
} as const;

/** The results of the signature check by their names in the API. */
export const SIGNATURES = {
  pending: SignatureVerified.PENDING,
  verified: SignatureVerified.VERIFIED,
  failed: SignatureVerified.FAILED,
  skipped: SignatureVerified.SKIPPED,
} as const;

const STATUS_NAMES = new Map<InboundEventStatus, string>(
  Object.entries(EVENT_STATUSES).map(([name, status]) => [status, name]),
);
const SIGNATURE_NAMES = new Map<SignatureVerified, string>(
  Object.entries(SIGNATURES).map(([name, signature]) => [signature, name]),
);

/** An inbound event as lists show it. */
export function eventListItemJson(event: InboundEvent, companyId: string): Writable {
  return toJson(event, companyId, undefined);
}

/** An inbound event with its payload; null when the payload is no longer stored. */
export function eventJson(event: InboundEvent, companyId: string): Writable {
  return toJson(event, companyId, rawOrNull(event.payloadJson));
}

function toJson(event: InboundEvent, companyId: string, payload: Writable): Writable {
  return {
    id: event.id,
    companyId,
    provider: event.provider,
    eventType: event.eventType ?? null,
    eventId: event.eventId ?? null,
    payload,
    payloadBytes: event.payloadBytes,
    signatureVerified: SIGNATURE_NAMES.get(event.signatureVerified) ?? "unknown",
    status: STATUS_NAMES.get(event.status) ?? "unknown",
    workflowsTriggered: event.workflowsTriggered.map(({ workflowId, runId }) => ({
      workflowId,
      runId,
    })),
    error: event.error ?? null,
    replayedFrom: event.replayedFrom ?? null,
    createdAt: event.createdAt,
  };
}
