import { newUuid } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { AuditCaller } from "@workflow/events";
import { recordAudit } from "../audit/record-audit.ts";
import { hashPassword } from "../auth/password.ts";
import type { Role } from "../auth/roles.ts";
import { insertMembership, insertUser } from "../store/companies.ts";
import { getMember } from "../store/members.ts";
import type { Member } from "../store/members.ts";

/** Who shall be a member, and as what. */
export interface NewMember {
  companyId: string;
  email: string;
  role: Role;
  /** The e-mail address by default. */
  name?: string | undefined;
  password: string;
}

/**
 * Makes a person, and a member of the company of it. Somebody who is known already is refused: a
 * password that one company has chosen must never open another one.
 *
 * @throws AppError CONFLICT for an e-mail address that is known
 */
export async function addMember(
  database: Database,
  request: NewMember,
  caller: AuditCaller,
): Promise<Member> {
  const { companyId, email, role, name = email, password } = request;
  // Hashing is slow on purpose and stays out of the transaction.
  const passwordHash = await hashPassword(password);
  return database.transaction(async (transaction) => {
    const userId = newUuid();
    await insertUser(transaction, { id: userId, email, name, passwordHash });
    await insertMembership(transaction, { companyId, userId, role });
    await recordAudit(transaction, caller, {
      action: "member.added",
      resourceType: "member",
      resourceId: userId,
      changes: { email: { from: null, to: email }, role: { from: null, to: role } },
    });
    return getMember(transaction, companyId, userId);
  });
}
