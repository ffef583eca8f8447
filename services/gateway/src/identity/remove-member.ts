import type { Database } from "@workflow/db";
import type { AuditCaller } from "@workflow/events";
import { recordAudit } from "../audit/record-audit.ts";
import type { Session } from "../auth/caller.ts";
import { notifyIdentityChange } from "../store/identity-changes.ts";
import {
  deleteMembership,
  deleteUserWithoutCompany,
  getMember,
  lockMembers,
} from "../store/members.ts";
import { requireAnotherOwner, requireRightOver } from "./member-rules.ts";

/** Who removes whom. */
export interface Removal {
  companyId: string;
  userId: string;
  /** The session of the one who does it; null for an API key. */
  session: Session | null;
}

/**
 * Removes a member: the sessions in this company end with the membership. A person who is in no other
 * company is forgotten altogether. API keys belong to the company and stay.
 *
 * @throws AppError NOT_FOUND for somebody who is no member, FORBIDDEN where only an owner may,
 *   CONFLICT for the last owner
 */
export async function removeMember(
  database: Database,
  { companyId, userId, session }: Removal,
  caller: AuditCaller,
): Promise<void> {
  await database.transaction(async (transaction) => {
    await lockMembers(transaction, companyId);
    const member = await getMember(transaction, companyId, userId);
    requireRightOver(session, member.role);
    if (member.role === "owner") await requireAnotherOwner(transaction, companyId);
    await deleteMembership(transaction, { companyId, userId });
    await deleteUserWithoutCompany(transaction, userId);
    await notifyIdentityChange(transaction, { type: "user", id: userId });
    await recordAudit(transaction, caller, {
      action: "member.removed",
      resourceType: "member",
      resourceId: userId,
      changes: {
        email: { from: member.email, to: null },
        role: { from: member.role, to: null },
      },
    });
  });
}
