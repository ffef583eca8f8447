import { newUuid } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import { z } from "zod";
import { hashPassword } from "../auth/password.ts";
import type { Role } from "../domain/roles.ts";
import { addAccount } from "../identity/add-account.ts";
import { requireRoom } from "../identity/member-rules.ts";
import { insertMembership } from "../store/companies.ts";
import { deleteInvitationOf } from "../store/invitations.ts";
import { lockMembers } from "../store/members.ts";
import { hasUser } from "../store/users.ts";
import { emailInput, nameInput, passwordInput, readInput, roleInput } from "../identity/inputs.ts";
import { recordAdminEvent } from "./record-admin-event.ts";

const input = z.object({
  companyId: z.uuid("must be the id of a company"),
  email: emailInput,
  password: passwordInput,
  role: roleInput,
  name: nameInput.optional(),
});

/** The person and the role in the company; the name defaults to the e-mail address. */
export type CreateUserInput = z.input<typeof input>;

/** A person whose input is valid; the hash is null for a person who has an account. */
export interface PreparedUser {
  companyId: string;
  email: string;
  role: Role;
  name: string;
  passwordHash: string | null;
}

/** The person; `existing` when the account existed before, whose name and password stay. */
export interface CreatedUser {
  userId: string;
  existing: boolean;
}

/**
 * Makes a person a member of a company (D65). An existing account keeps its name and password; the
 * operator vouches that the address is the person's, see docs/identity.md.
 *
 * @throws AppError BAD_REQUEST for bad input; CONFLICT when the person is a member already;
 * NOT_FOUND for an unknown company
 */
export async function createUser(
  database: Database,
  request: CreateUserInput,
): Promise<CreatedUser> {
  const { companyId, email, password, role, name = email } = readInput(input, request);
  // The given password is ignored for an existing account.
  const passwordHash = (await hasUser(database, email))
    ? null
    : await hashPassword(password, companyId);
  return database.transaction((transaction) =>
    insertPreparedUser(transaction, { companyId, email, role, name, passwordHash }),
  );
}

/**
 * The part with the database: several statements, which need a transaction.
 *
 * @throws AppError CONFLICT when the person is a member already; NOT_FOUND for an unknown company
 */
export async function insertPreparedUser(
  transaction: Transaction,
  { companyId, email, role, name, passwordHash }: PreparedUser,
): Promise<CreatedUser> {
  await lockMembers(transaction, companyId);
  await requireRoom(transaction, companyId);
  const { userId, isKnown } = await addAccount(transaction, email, {
    id: newUuid(),
    name,
    passwordHash,
  });
  await insertMembership(transaction, { companyId, userId, role });
  await deleteInvitationOf(transaction, companyId, email);
  await recordAdminEvent(transaction, {
    companyId: companyId.toLowerCase(),
    action: "member.added",
    resourceType: "member",
    resourceId: userId,
    changes: { email: { from: null, to: email }, role: { from: null, to: role } },
  });
  return { userId, existing: isKnown };
}
