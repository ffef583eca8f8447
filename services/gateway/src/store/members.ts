import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { ROLES } from "../auth/roles.ts";
import type { Role } from "../auth/roles.ts";

const member = z.object({
  userId: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  createdAt: z.date(),
});
const counted = z.object({ count: z.number() });
const identified = z.object({ id: z.string() });
const nothing = z.object({});

/** A person as a member of a company; `createdAt` is when the membership began. */
export type Member = z.infer<typeof member>;

/** The members of a company, the newest first. */
export function listMembers(database: Queryable, companyId: string): Promise<readonly Member[]> {
  return database.any(sql.type(member)`
    select m.user_id as "userId", u.email, u.name, m.role, m.created_at as "createdAt"
    from gateway.memberships m
    join gateway.users u on u.id = m.user_id
    where m.company_id = ${companyId}
    order by m.created_at desc, m.user_id desc
  `);
}

/**
 * Lets nobody else change the members of a company until the transaction ends: rules about all of
 * them together, such as that there is an owner, can be checked.
 */
export async function lockMembers(transaction: Transaction, companyId: string): Promise<void> {
  await transaction.query(sql.type(nothing)`
    select from gateway.companies where id = ${companyId} for no key update
  `);
}

/** A member of a company. Throws NOT_FOUND when there is none of this id. */
export async function getMember(
  database: Queryable,
  companyId: string,
  userId: string,
): Promise<Member> {
  const found = await database.maybeOne(sql.type(member)`
    select m.user_id as "userId", u.email, u.name, m.role, m.created_at as "createdAt"
    from gateway.memberships m
    join gateway.users u on u.id = m.user_id
    where m.company_id = ${companyId} and m.user_id = ${userId}
  `);
  if (found === null) throw new AppError("NOT_FOUND", "Member not found");
  return found;
}

/** How many owners a company has. */
export async function countOwners(database: Queryable, companyId: string): Promise<number> {
  const { count } = await database.one(sql.type(counted)`
    select count(*) as count
    from gateway.memberships
    where company_id = ${companyId} and role = 'owner'
  `);
  return count;
}

/** Gives a member another role. */
export async function updateRole(
  database: Queryable,
  membership: { companyId: string; userId: string; role: Role },
): Promise<void> {
  await database.query(sql.type(nothing)`
    update gateway.memberships
    set role = ${membership.role}
    where company_id = ${membership.companyId} and user_id = ${membership.userId}
  `);
}

/** Ends a membership, and with it the sessions of that person in that company. */
export async function deleteMembership(
  database: Queryable,
  membership: { companyId: string; userId: string },
): Promise<void> {
  await database.query(sql.type(nothing)`
    delete from gateway.memberships
    where company_id = ${membership.companyId} and user_id = ${membership.userId}
  `);
}

/**
 * Removes a person who is a member of no company any more. The lock comes first, so that a membership
 * which is being made elsewhere is seen.
 */
export async function deleteUserWithoutCompany(
  transaction: Transaction,
  userId: string,
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    select from gateway.users where id = ${userId} for update
  `);
  await transaction.query(sql.type(nothing)`
    delete from gateway.users
    where id = ${userId}
      and not exists (select from gateway.memberships where user_id = ${userId})
  `);
}

/**
 * The id of the person with an e-mail address, given in lower case; null when there is none. Until the
 * transaction ends the person stays.
 */
export async function lockUserId(transaction: Transaction, email: string): Promise<string | null> {
  const found = await transaction.maybeOne(sql.type(identified)`
    select id from gateway.users where email = ${email} for key share
  `);
  return found?.id ?? null;
}
