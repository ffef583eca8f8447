import type { AuditEntry } from "@workflow/audit";
import type { Transaction } from "@workflow/db";
import { revokeApiKeysBy } from "../store/api-keys.ts";
import { notifyIdentityChange } from "../store/identity-changes.ts";

/**
 * Revokes all keys that a person created in a company, and the keys that those keys created.
 *
 * @returns one audit event for each key
 */
export async function revokeKeysBy(
  transaction: Transaction,
  companyId: string,
  createdBy: string,
): Promise<AuditEntry[]> {
  const revoked = await revokeApiKeysBy(transaction, companyId, createdBy);
  // One notification for all of them: gateways invalidate the company's keys.
  if (revoked.length > 0)
    await notifyIdentityChange(transaction, { type: "company", id: companyId });
  return revoked.map(({ id, name }) => ({
    action: "api_key.revoked",
    resourceType: "api_key",
    resourceId: id,
    changes: { name: { from: name, to: null } },
  }));
}
