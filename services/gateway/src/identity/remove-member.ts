import type { AuditCaller, AuditEntry } from "@workflow/audit";
import type { Database, Transaction } from "@workflow/db";
import { recordAudit } from "../audit/record-audit.ts";
import type { Caller } from "../auth/caller.ts";
import { insertMembership, insertUser } from "../store/companies.ts";
import { notifyIdentityChange } from "../store/identity-changes.ts";
import { deleteInvitation, takeOldestInvitation } from "../store/invitations.ts";
import {
  deleteMembership,
  deleteUserWithoutCompany,
  getMember,
  lockMembers,
} from "../store/members.ts";
import { getCurrentAccess } from "./current-access.ts";
import { requireAnotherOwner, requireRightOver } from "./member-rules.ts";
import { revokeKeysBy } from "./revoke-keys.ts";

/** The member to remove. */
export interface Removal {
  companyId: string;
  userId: string;
  /**
   * Whether the API keys that the person created, directly or through other keys, are revoked as
   * well.
   */
  revokeKeys: boolean;
}

/**
 * Removes a member, or withdraws an invitation. The person's sessions in this company end; those in
 * other companies go on. A person without another company is deleted.
 *
 * @returns the number of revoked API keys
 * @throws AppError NOT_FOUND for a person who is no member; FORBIDDEN where only an owner may;
 * CONFLICT for the last owner; UNAUTHORIZED when the caller has lost access
 */
export async function removeMember(
  database: Database,
  { companyId, userId, revokeKeys }: Removal,
  caller: Caller & AuditCaller,
): Promise<number> {
  return database.transaction(async (transaction) => {
    await lockMembers(transaction, companyId);
    const access = await getCurrentAccess(transaction, caller, "api_keys:write");
    const member = await getMember(transaction, companyId, userId);
    requireRightOver(access, member.role);
    if (member.isInvited) await deleteInvitation(transaction, { companyId, userId });
    else {
      if (member.role === "owner") await requireAnotherOwner(transaction, companyId);
      await endMembership(transaction, companyId, userId);
    }
    const revoked = revokeKeys ? await revokeKeysBy(transaction, companyId, userId) : [];
    const removed: AuditEntry = {
      action: "member.removed",
      resourceType: "member",
      resourceId: userId,
      changes: {
        email: { from: member.email, to: null },
        role: { from: member.role, to: null },
      },
    };
    await recordAudit(transaction, caller, removed, ...revoked);
    return revoked.length;
  });
}

/**
 * Ends a membership and the sessions in its company, and deletes a person without another company.
 * Call it while the members are locked.
 */
export async function endMembership(
  transaction: Transaction,
  companyId: string,
  userId: string,
): Promise<void> {
  await deleteMembership(transaction, { companyId, userId });
  await notifyIdentityChange(transaction, { type: "user", id: userId });
  const email = await deleteUserWithoutCompany(transaction, userId);
  if (email !== null) await beginAnew(transaction, email);
}

/**
 * The account of an e-mail address was deleted. The company that has waited longest for the address
 * gets a new person with the password that it hands over, as it would have without the account.
 */
async function beginAnew(transaction: Transaction, email: string): Promise<void> {
  const next = await takeOldestInvitation(transaction, email);
  if (next === null) return;
  const { id, companyId, role, createdAt } = next;
  // Other transactions that create an account for the address wait until this one ends.
  if (!(await insertUser(transaction, next))) throw new Error("The address has an account again.");
  await insertMembership(transaction, { companyId, userId: id, role, createdAt });
}
