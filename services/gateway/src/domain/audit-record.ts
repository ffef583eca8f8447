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
