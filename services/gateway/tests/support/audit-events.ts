import { AUDIT_STREAM, toAuditEvent } from "@workflow/audit";
import type { AuditCaller, AuditEntry } from "@workflow/audit";
import { toOutboxRow } from "@workflow/events";
import type { EventBus, PublishedEvent } from "@workflow/events";

/** A change as a service tells of it. */
export function auditEvent(
  companyId: string,
  entry: Partial<AuditEntry> = {},
  caller: Partial<Omit<AuditCaller, "identity">> & { actorId?: string } = {},
): PublishedEvent {
  const { actorId = "0197b2a0-0000-7000-8000-00000000000a", requestId = "req-1" } = caller;
  const { client = { ipAddress: "203.0.113.9", userAgent: "curl/8" } } = caller;
  const principal = { type: "api_key", id: actorId, name: "CI" };
  const event = toAuditEvent(
    { identity: { companyId, principal }, requestId, client },
    {
      action: "workflow.created",
      resourceType: "workflow",
      resourceId: "0197b2a0-0000-7000-8000-000000000001",
      changes: { name: { from: null, to: "Orders" } },
      ...entry,
    },
  );
  const { id, type, payload } = toOutboxRow(event);
  return { id, type, stream: AUDIT_STREAM, body: payload };
}

/** Publishes changes as the relay of a service would. */
export async function publish(bus: EventBus, ...events: PublishedEvent[]): Promise<void> {
  await bus.publish(events);
}
