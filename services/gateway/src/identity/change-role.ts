import type { Database } from "@workflow/db";
import type { AuditCaller } from "@workflow/events";
import { recordAudit } from "../audit/record-audit.ts";
import type { Session } from "../auth/caller.ts";
import type { Role } from "../auth/roles.ts";
import { notifyIdentityChange } from "../store/identity-changes.ts";
import { getMember, lockMembers, updateRole } from "../store/members.ts";
import type { Member } from "../store/members.ts";
import { requireAnotherOwner, requireRightOver } from "./member-rules.ts";

/** Who does it to whom. */
export interface RoleChange {
  companyId: string;
  userId: string;
  role: Role;
  /** The session of the one who does it; null for an API key. */
  session: Session | null;
}

/**
 * Gives a member another role; it counts in all gateways within 5 s.
 *
 * @throws AppError NOT_FOUND for somebody who is no member, FORBIDDEN where only an owner may,
 *   CONFLICT for the last owner
 */
export async function changeRole(
  database: Database,
  { companyId, userId, role, session }: RoleChange,
  caller: AuditCaller,
): Promise<Member> {
  return database.transaction(async (transaction) => {
    await lockMembers(transaction, companyId);
    const member = await getMember(transaction, companyId, userId);
    requireRightOver(session, member.role);
    requireRightOver(session, role);
    if (member.role === "owner" && role !== "owner") {
      await requireAnotherOwner(transaction, companyId);
    }
    if (member.role === role) return member;
    await updateRole(transaction, { companyId, userId, role });
    await notifyIdentityChange(transaction, { type: "user", id: userId });
    await recordAudit(transaction, caller, {
      action: "member.role_changed",
      resourceType: "member",
      resourceId: userId,
      changes: { role: { from: member.role, to: role } },
    });
    return { ...member, role };
  });
}
