import { createHash } from "node:crypto";
import { auditDataSchema } from "@workflow/audit";
import type { AuditRecord } from "../domain/audit-record.ts";

/** The `prevHash` of a company's first row. */
export const FIRST_PREV_HASH: Buffer = Buffer.alloc(32);

/** The envelope of an audit event. */
interface AuditEvent {
  id: string;
  type: string;
  companyId: string;
  requestId?: string | undefined;
  /** ISO 8601 text when the event came over the bus. */
  timestamp: string | Date;
  data: unknown;
}

/**
 * The stored form of an audit event.
 *
 * @throws Error when its data has another form
 */
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

/** Removes NUL characters, which Postgres refuses in a text: the event could never be stored. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}

function storableOrNull(text: string | null): string | null {
  return text === null ? null : storable(text);
}

/**
 * The hash of a row: SHA-256 over the hash of the row before and the row's values, as a JSON array
 * in a fixed order. Stored hashes depend on this order, so it never changes; a new form gets a new
 * first member.
 */
export function hashRecord(record: AuditRecord, seq: number, prevHash: Buffer): Buffer {
  const values = [
    "v1",
    record.companyId.toLowerCase(),
    seq,
    record.eventId,
    record.action,
    record.resourceType,
    record.resourceId,
    record.actorType,
    record.actorId,
    record.actorName,
    record.ipAddress,
    record.userAgent,
    record.requestId,
    record.changes,
    record.createdAt.toISOString(),
  ];
  return createHash("sha256").update(prevHash).update(JSON.stringify(values)).digest();
}
