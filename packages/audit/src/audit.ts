import { idTimestamp, newId } from "@workflow/db";
import { EVENT_ID_PREFIX } from "@workflow/events";
import type { NewEvent } from "@workflow/events";
import { z } from "zod";
import type { AuditChanges } from "./audit-changes.ts";
import { fitChanges } from "./audit-changes.ts";

/** The stream on which services tell what callers changed (D51). */
export const AUDIT_STREAM = "audit";

/** What was done to what: `workflow.created`. */
export type AuditAction = `${string}.${string}`;

/** One change that a caller made. */
export interface AuditEntry {
  action: AuditAction;
  /** What kind of object it is, as the API calls it: `workflow`. */
  resourceType: string;
  resourceId: string;
  changes: AuditChanges;
}

/** Who made it, and by which request. The context of an RPC is one. */
export interface AuditCaller {
  readonly identity: {
    readonly companyId: string;
    readonly principal: {
      readonly type: string;
      readonly id: string;
      readonly name?: string | undefined;
    };
  };
  readonly requestId: string;
  /** What is known of the program and the machine in front of the system. */
  readonly client: {
    readonly ipAddress?: string | undefined;
    readonly userAgent?: string | undefined;
  };
}

/** What an event of the audit stream carries; its type is the action. */
export const auditDataSchema = z.object({
  resourceType: z.string(),
  resourceId: z.string(),
  actor: z.object({ type: z.string(), id: z.string(), name: z.string().nullable() }),
  ipAddress: z.string().nullable(),
  userAgent: z.string().nullable(),
  changes: z.record(z.string(), z.unknown()),
});

/** What an event of the audit stream carries. */
export type AuditData = z.output<typeof auditDataSchema>;

/** The event that tells of a change. Its time is that of its id, so both sort alike. */
export function toAuditEvent(
  { identity, requestId, client }: AuditCaller,
  { action, resourceType, resourceId, changes }: AuditEntry,
): Required<Omit<NewEvent, "traceparent">> & { data: AuditData } {
  const id = newId(EVENT_ID_PREFIX);
  const { type, id: principalId, name } = identity.principal;
  return {
    id,
    type: action,
    companyId: identity.companyId,
    requestId,
    timestamp: idTimestamp(id),
    data: {
      resourceType,
      resourceId,
      actor: { type, id: principalId, name: name ?? null },
      ipAddress: client.ipAddress ?? null,
      userAgent: client.userAgent ?? null,
      changes: fitChanges(changes),
    },
  };
}
