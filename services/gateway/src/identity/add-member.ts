import type { AuditCaller } from "@workflow/audit";
import { newUuid } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { recordAudit } from "../audit/record-audit.ts";
import { hashPassword } from "../auth/password.ts";
import type { Caller } from "../auth/caller.ts";
import type { Role } from "../domain/roles.ts";
import { ALREADY_MEMBER, insertMembership } from "../store/companies.ts";
import { insertInvitation } from "../store/invitations.ts";
import type { Invitation } from "../store/invitations.ts";
import { getMember, hasMember, lockMembers } from "../store/members.ts";
import type { Member } from "../store/members.ts";
import { addAccount } from "./add-account.ts";
import { accessOnEntry, getCurrentAccess } from "./current-access.ts";
import type { Access } from "./current-access.ts";
import { requireRightOver, requireRoom, requireScopesOf } from "./member-rules.ts";

/** The new member and the role. */
export interface NewMember {
  companyId: string;
  /** In lower case. */
  email: string;
  role: Role;
  /** The e-mail address by default. */
  name?: string | undefined;
  /** The password of a new account; for an existing account the one that accepts the invitation. */
  password: string;
}

/**
 * Makes a person a member, or invites one whose e-mail address has an account (D65). The company
 * cannot tell the two apart: work and answer are the same. An existing account keeps its name and
 * password; its owner joins only with the password that this company hands over.
 *
 * @throws AppError CONFLICT for an e-mail address of a member or an invited person; FORBIDDEN for a
 * role that the caller cannot give; BAD_REQUEST when the company is full; RATE_LIMITED when it adds
 * too many at once; UNAUTHORIZED when the caller loses access meanwhile
 */
export async function addMember(
  database: Database,
  request: NewMember,
  caller: Caller & AuditCaller,
): Promise<Member> {
  const { companyId, email, role, name = email, password } = request;
  requireMayGive(accessOnEntry(caller), role);
  // Checked before the slow hashing, and again under the lock.
  if (await hasMember(database, companyId, email)) throw alreadyMember();
  const passwordHash = await hashPassword(password, companyId);
  const wanted = { id: newUuid(), companyId, email, role, name, passwordHash };
  return database.transaction(async (transaction) => {
    await lockMembers(transaction, companyId);
    requireMayGive(await getCurrentAccess(transaction, caller, "api_keys:write"), role);
    await requireRoom(transaction, companyId);
    await insertMember(transaction, wanted);
    await recordAudit(transaction, caller, {
      action: "member.added",
      resourceType: "member",
      resourceId: wanted.id,
      changes: { email: { from: null, to: email }, role: { from: null, to: role } },
    });
    return getMember(transaction, companyId, wanted.id);
  });
}

function requireMayGive(access: Access, role: Role): void {
  requireRightOver(access, role);
  requireScopesOf(access, role);
}

async function insertMember(transaction: Transaction, wanted: Invitation): Promise<void> {
  const { id, companyId, email, role } = wanted;
  const { isKnown } = await addAccount(transaction, email, wanted);
  if (!isKnown) return insertMembership(transaction, { companyId, userId: id, role });
  if (await hasMember(transaction, companyId, email)) throw alreadyMember();
  if (!(await insertInvitation(transaction, wanted))) throw alreadyMember();
}

function alreadyMember(): AppError {
  return new AppError("CONFLICT", ALREADY_MEMBER);
}
