import { auditDataSchema } from "@workflow/audit";
import type { AuditRecord } from "../domain/audit-record.ts";

/** What an audit event has beside its data. */
interface AuditEvent {
  id: string;
  type: string;
  companyId: string;
  requestId?: string | undefined;
  /** ISO 8601 where it came by the bus. */
  timestamp: string | Date;
  data: unknown;
}

/** What the log keeps of an audit event. Throws when its data is of another form. */
export function toAuditRecord(event: AuditEvent): AuditRecord {
  const data = auditDataSchema.parse(event.data);
  return {
    companyId: event.companyId.toLowerCase(),
    eventId: event.id,
    action: event.type,
    resourceType: storable(data.resourceType),
    resourceId: storable(data.resourceId),
    actorType: data.actor.type,
    actorId: storable(data.actor.id),
    actorName: storableOrNull(data.actor.name),
    ipAddress: storableOrNull(data.ipAddress),
    userAgent: storableOrNull(data.userAgent),
    requestId: storableOrNull(event.requestId ?? null),
    changes: JSON.stringify(data.changes),
    createdAt: new Date(event.timestamp),
  };
}

/** Without what Postgres takes into no text: it would be refused for ever. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}

function storableOrNull(text: string | null): string | null {
  return text === null ? null : storable(text);
}
