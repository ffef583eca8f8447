import type { AuditCaller } from "@workflow/audit";
import type { Database } from "@workflow/db";
import { recordAudit } from "../audit/record-audit.ts";
import type { Caller } from "../auth/caller.ts";
import type { Role } from "../domain/roles.ts";
import { notifyIdentityChange } from "../store/identity-changes.ts";
import { updateInvitedRole } from "../store/invitations.ts";
import { getMember, lockMembers, updateRole } from "../store/members.ts";
import type { Member } from "../store/members.ts";
import { getCurrentAccess } from "./current-access.ts";
import { requireAnotherOwner, requireRightOver, requireScopesOf } from "./member-rules.ts";

/** The member and the new role. */
export interface RoleChange {
  companyId: string;
  userId: string;
  role: Role;
}

/**
 * Gives a member or an invited person another role, which takes effect in all gateways within 5 s.
 *
 * @throws AppError NOT_FOUND for a person who is no member; FORBIDDEN for a role that the caller
 * cannot give, or where only an owner may; CONFLICT for the last owner; UNAUTHORIZED when the
 * caller has lost access
 */
export async function changeRole(
  database: Database,
  { companyId, userId, role }: RoleChange,
  caller: Caller & AuditCaller,
): Promise<Member> {
  return database.transaction(async (transaction) => {
    await lockMembers(transaction, companyId);
    const access = await getCurrentAccess(transaction, caller, "api_keys:write");
    requireScopesOf(access, role);
    const member = await getMember(transaction, companyId, userId);
    requireRightOver(access, member.role);
    requireRightOver(access, role);
    if (!member.isInvited && member.role === "owner" && role !== "owner") {
      await requireAnotherOwner(transaction, companyId);
    }
    if (member.role === role) return member;
    if (member.isInvited) await updateInvitedRole(transaction, { companyId, userId, role });
    else await updateRole(transaction, { companyId, userId, role });
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
