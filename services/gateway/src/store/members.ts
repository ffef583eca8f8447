import { sql } from "@workflow/db";
import type { Queryable, SqlFragment, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { ROLES } from "../domain/roles.ts";
import type { Role } from "../domain/roles.ts";

const member = z.object({
  userId: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  createdAt: z.date(),
});
const foundMember = member.extend({ isInvited: z.boolean() });
const existence = z.object({ exists: z.boolean() });
const forgotten = z.object({ email: z.string() });
const counted = z.object({ count: z.number() });
const identified = z.object({ id: z.string() });
const nothing = z.object({});

/**
 * A person as a member of a company; `createdAt` is when the membership began. One who is invited looks
 * the same: the company is not told whether somebody has an account elsewhere.
 */
export type Member = z.infer<typeof member>;

/** A member, and whether the invitation has still to be accepted. */
export type FoundMember = z.infer<typeof foundMember>;

/** Where a page begins: after this one in the order of the list. */
export interface ListPosition {
  createdAt: Date;
  id: string;
}

/** Members and invited ones of a company, the newest first. Two ranges of an index each, merged. */
export function listMembers(
  database: Queryable,
  companyId: string,
  page: { after: ListPosition | null; limit: number },
): Promise<readonly Member[]> {
  const { after, limit } = page;
  return database.any(sql.type(member)`
    select "userId", email, name, role, "createdAt"
    from (
      (
        select m.user_id as "userId", u.email, u.name, m.role, m.created_at as "createdAt"
        from gateway.memberships m
        join gateway.users u on u.id = m.user_id
        where m.company_id = ${companyId} and ${isAfter(sql.fragment`m.user_id`, after)}
        order by m.created_at desc, m.user_id desc
        limit ${limit}
      )
      union all
      (
        select m.id, m.email, m.name, m.role, m.created_at
        from gateway.invitations m
        where m.company_id = ${companyId} and ${isAfter(sql.fragment`m.id`, after)}
        order by m.created_at desc, m.id desc
        limit ${limit}
      )
    ) as members
    order by "createdAt" desc, "userId" desc
    limit ${limit}
  `);
}

function isAfter(id: SqlFragment, after: ListPosition | null): SqlFragment {
  if (after === null) return sql.fragment`true`;
  return sql.fragment`(m.created_at, ${id}) < (${sql.timestamp(after.createdAt)}, ${after.id}::uuid)`;
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

/**
 * A member of a company, or one who is invited.
 *
 * @throws AppError NOT_FOUND when there is none of this id
 */
export async function getMember(
  database: Queryable,
  companyId: string,
  userId: string,
): Promise<FoundMember> {
  const found = await database.maybeOne(sql.type(foundMember)`
    select
      m.user_id as "userId", u.email, u.name, m.role, m.created_at as "createdAt",
      false as "isInvited"
    from gateway.memberships m
    join gateway.users u on u.id = m.user_id
    where m.company_id = ${companyId} and m.user_id = ${userId}
    union all
    select id, email, name, role, created_at, true
    from gateway.invitations
    where company_id = ${companyId} and id = ${userId}
  `);
  if (found === null) throw new AppError("NOT_FOUND", "Member not found");
  return found;
}

/** Whether an e-mail address is a member's, or invited. */
export async function hasMember(
  database: Queryable,
  companyId: string,
  email: string,
): Promise<boolean> {
  const { exists } = await database.one(sql.type(existence)`
    select
      exists (
        select
        from gateway.users u
        join gateway.memberships m on m.user_id = u.id
        where u.email = ${email} and m.company_id = ${companyId}
      )
      or exists (
        select from gateway.invitations where company_id = ${companyId} and email = ${email}
      ) as exists
  `);
  return exists;
}

/** How many members and invited ones a company has. */
export async function countMembers(database: Queryable, companyId: string): Promise<number> {
  const { count } = await database.one(sql.type(counted)`
    select
      (select count(*) from gateway.memberships where company_id = ${companyId})
      + (select count(*) from gateway.invitations where company_id = ${companyId}) as count
  `);
  return count;
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
 * Removes a person who is a member of no company any more, and answers the e-mail address; null when the
 * person stays. The lock comes first, so that a membership or an invitation which is being made elsewhere
 * is seen.
 */
export async function deleteUserWithoutCompany(
  transaction: Transaction,
  userId: string,
): Promise<string | null> {
  await transaction.query(sql.type(nothing)`
    select from gateway.users where id = ${userId} for update
  `);
  const deleted = await transaction.maybeOne(sql.type(forgotten)`
    delete from gateway.users
    where id = ${userId}
      and not exists (select from gateway.memberships where user_id = ${userId})
    returning email
  `);
  return deleted?.email ?? null;
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
