import type { Queryable } from "@workflow/db";
import { INSTALLATION } from "../audit/verify-audit.ts";
import { listAudit } from "../store/audit-list.ts";
import type { AuditRow } from "../store/audit-list.ts";

/**
 * The events of a company's audit log, or of the installation's own, newest first.
 *
 * @param companyId null for the installation
 */
export function listAuditEvents(
  database: Queryable,
  companyId: string | null,
  limit: number,
): Promise<readonly AuditRow[]> {
  const anything = { action: null, resourceType: null, resourceId: null, actorId: null };
  return listAudit(
    database,
    { companyId: companyId ?? INSTALLATION, ...anything, from: null, to: null },
    { after: null, limit },
  );
}
