import { toAuditEvent } from "@workflow/audit";
import type { AuditCaller, AuditEntry } from "@workflow/audit";
import type { Transaction } from "@workflow/db";
import { appendAudit } from "./append-audit.ts";
import { toAuditRecord } from "./to-audit-record.ts";

/**
 * Records changes of the gateway's own objects in the transaction that makes them. Call it last:
 * other audited changes of the company wait from here to the commit.
 *
 * @param caller the context of the route, or another actor
 */
export async function recordAudit(
  transaction: Transaction,
  caller: AuditCaller,
  ...entries: readonly AuditEntry[]
): Promise<void> {
  const records = entries.map((entry) => toAuditRecord(toAuditEvent(caller, entry)));
  await appendAudit(transaction, records);
}
