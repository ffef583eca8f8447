import { createHash } from "node:crypto";

/** One change as the log keeps it, without its place in the chain. */
export interface AuditRecord {
  companyId: string;
  /** `evt_…`; what is recorded twice under one id is kept once. */
  eventId: string;
  action: string;
  resourceType: string;
  resourceId: string;
  actorType: string;
  actorId: string;
  actorName: string | null;
  ipAddress: string | null;
  userAgent: string | null;
  requestId: string | null;
  /** JSON text of an object. */
  changes: string;
  createdAt: Date;
}

/** The `prevHash` of a company's first row. */
export const FIRST_PREV_HASH: Buffer = Buffer.alloc(32);

/**
 * The hash of a row: SHA-256 over the hash of the row before and the row's values, as a JSON array in
 * a fixed order. It stands in databases: the order never changes, a new form gets a new first member.
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
