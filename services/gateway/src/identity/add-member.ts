import { newUuid } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { AuditCaller } from "@workflow/events";
import { recordAudit } from "../audit/record-audit.ts";
import { hashPassword } from "../auth/password.ts";
import type { Role } from "../auth/roles.ts";
import { ensureUser, insertMembership } from "../store/companies.ts";
import { findUserId, getMember, lockUserId } from "../store/members.ts";
import type { Member } from "../store/members.ts";

/** Who shall be a member, and as what. */
export interface NewMember {
  companyId: string;
  email: string;
  role: Role;
  /** Of a new person; the e-mail address by default. */
  name?: string | undefined;
  /** Of a new person. */
  password?: string | undefined;
}

/**
 * Adds a person to a company. Somebody who is known already, from another company, keeps name and
 * password: those are not this company's to change.
 *
 * @throws AppError BAD_REQUEST for a new person without a password, CONFLICT for a member
 */
export async function addMember(
  database: Database,
  request: NewMember,
  caller: AuditCaller,
): Promise<Member> {
  const { companyId, email, role, name = email, password } = request;
  const isKnown = (await findUserId(database, email)) !== null;
  if (!isKnown && password === undefined) throw missingPassword();
  // Hashing is slow on purpose and stays out of the transaction.
  const passwordHash = isKnown || password === undefined ? null : await hashPassword(password);
  return database.transaction(async (transaction) => {
    const userId = await userOf(transaction, { email, name, passwordHash });
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

async function userOf(
  transaction: Transaction,
  person: { email: string; name: string; passwordHash: string | null },
): Promise<string> {
  const { email, name, passwordHash } = person;
  if (passwordHash !== null) {
    return ensureUser(transaction, { id: newUuid(), email, name, passwordHash });
  }
  const userId = await lockUserId(transaction, email);
  // Known a moment ago, removed since.
  if (userId === null) throw missingPassword();
  return userId;
}

function missingPassword(): AppError {
  const message = "is required for a new person";
  return new AppError("BAD_REQUEST", `The request is not valid: password ${message}.`, {
    violations: [{ path: ["password"], message }],
  });
}
