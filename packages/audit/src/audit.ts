import { idTimestamp, newId } from "@workflow/db";
import { EVENT_ID_PREFIX } from "@workflow/events";
import type { NewEvent } from "@workflow/events";
import { z } from "zod";
import type { AuditChanges } from "./audit-changes.ts";
import { fitChanges } from "./audit-changes.ts";

/** The stream on which services publish what callers changed (D51). */
export const AUDIT_STREAM = "audit";

/** The action and its object: `workflow.created`. */
export type AuditAction = `${string}.${string}`;

/** One change by a caller. */
export interface AuditEntry {
  action: AuditAction;
  /** The type of the object, as the API calls it: `workflow`. */
  resourceType: string;
  resourceId: string;
  changes: AuditChanges;
}

/** The caller, and the request that made the change. The context of an RPC is one. */
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
  /** The program and the machine of the caller, as far as they are known. */
  readonly client: {
    readonly ipAddress?: string | undefined;
    readonly userAgent?: string | undefined;
  };
}

/** The data of an event on the audit stream. The event's type is the action. */
export const auditDataSchema = z.object({
  resourceType: z.string(),
  resourceId: z.string(),
  actor: z.object({ type: z.string(), id: z.string(), name: z.string().nullable() }),
  ipAddress: z.string().nullable(),
  userAgent: z.string().nullable(),
  changes: z.record(z.string(), z.unknown()),
});

/** The data of an event on the audit stream. */
export type AuditData = z.output<typeof auditDataSchema>;

/** The event of a change. Its time is that of its id, so both sort alike. */
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
