import { InboundEventStatus, SignatureVerified } from "@workflow/proto/webhooks/v1/events";
import type { InboundEvent } from "@workflow/proto/webhooks/v1/events";
import type { ListedEvent, WholeEvent } from "../store/inbound-events.ts";

const STATUSES = {
  received: InboundEventStatus.RECEIVED,
  processing: InboundEventStatus.PROCESSING,
  processed: InboundEventStatus.PROCESSED,
  failed: InboundEventStatus.FAILED,
  ignored: InboundEventStatus.IGNORED,
} as const;

const SIGNATURES = {
  pending: SignatureVerified.PENDING,
  verified: SignatureVerified.VERIFIED,
  failed: SignatureVerified.FAILED,
  skipped: SignatureVerified.SKIPPED,
} as const;

/** An event as lists show it. */
export function toListedMessage(event: ListedEvent): InboundEvent {
  return {
    id: event.id,
    provider: event.provider,
    eventType: event.eventType ?? undefined,
    eventId: event.externalEventId ?? undefined,
    payloadBytes: event.payloadBytes,
    signatureVerified: SIGNATURES[event.signature],
    status: STATUSES[event.status],
    workflowsTriggered: event.started,
    error: event.error ?? undefined,
    replayedFrom: event.replayedFrom ?? undefined,
    createdAt: event.createdAt,
  };
}

/** An event with its payload, where that is still kept. */
export function toWholeMessage(event: WholeEvent): InboundEvent {
  return { ...toListedMessage(event), payloadJson: event.payloadJson ?? undefined };
}

/** The store's name of a status; null for any. */
export function statusName(status: InboundEventStatus): string | null {
  return nameOf(STATUSES, status);
}

/** The store's name of a signature's result; null for any. */
export function signatureName(signature: SignatureVerified): string | null {
  return nameOf(SIGNATURES, signature);
}

function nameOf(names: Readonly<Record<string, number>>, value: number): string | null {
  return Object.entries(names).find(([, known]) => known === value)?.[0] ?? null;
}
