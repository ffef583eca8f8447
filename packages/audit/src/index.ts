export { AUDIT_STREAM, auditDataSchema, toAuditEvent } from "./audit.ts";
export type { AuditAction, AuditCaller, AuditData, AuditEntry } from "./audit.ts";
export { createAuditTrail } from "./audit-trail.ts";
export type { AuditTrail } from "./audit-trail.ts";
export { changesBetween, itemChanges, unchanged } from "./audit-changes.ts";
export type { AuditChange, AuditChanges, AuditFields, AuditItems } from "./audit-changes.ts";
