import { createHash } from "node:crypto";
import type { AuditRecord } from "../domain/audit-record.ts";

/** The `prevHash` of a company's first row. */
export const FIRST_PREV_HASH: Buffer = Buffer.alloc(32);

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
