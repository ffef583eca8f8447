/** One change as the log stores it, without its position in the chain. */
export interface AuditRecord {
  companyId: string;
  /** `evt_…`; an event that is recorded twice is stored once. */
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
