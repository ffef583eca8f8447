import type { AuditEntry } from "@workflow/audit";
import type { Transaction } from "@workflow/db";
import { revokeApiKeysBy } from "../store/api-keys.ts";
import { notifyIdentityChange } from "../store/identity-changes.ts";

/**
 * Revokes all keys that somebody has made in a company, those included which keys of their making made,
 * and answers what the audit log is to be told: one event a key.
 */
export async function revokeKeysBy(
  transaction: Transaction,
  companyId: string,
  createdBy: string,
): Promise<AuditEntry[]> {
  const revoked = await revokeApiKeysBy(transaction, companyId, createdBy);
  // One notification for however many: gateways forget the company's keys and ask anew.
  if (revoked.length > 0)
    await notifyIdentityChange(transaction, { type: "company", id: companyId });
  return revoked.map(({ id, name }) => ({
    action: "api_key.revoked",
    resourceType: "api_key",
    resourceId: id,
    changes: { name: { from: name, to: null } },
  }));
}
