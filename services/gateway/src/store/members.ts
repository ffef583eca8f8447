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
 * A person as a member of a company; `createdAt` is the beginning of the membership. An invited
 * person looks the same: a company does not learn whether somebody has an account elsewhere.
 */
export type Member = z.infer<typeof member>;

/** A member, and whether the invitation is still open. */
export type FoundMember = z.infer<typeof foundMember>;

/** A page begins after this member in the order of the list. */
export interface ListPosition {
  createdAt: Date;
  id: string;
}

/** The members and invited persons of a company, the newest first: two index ranges, merged. */
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
 * Locks the members of a company until the transaction ends, so that rules about all of them, such
 * as the last owner, can be checked.
 */
export async function lockMembers(transaction: Transaction, companyId: string): Promise<void> {
  await transaction.query(sql.type(nothing)`
    select from gateway.companies where id = ${companyId} for no key update
  `);
}

/**
 * A member of a company, or an invited person.
 *
 * @throws AppError NOT_FOUND without one of this id
 */
export async function getMember(
  database: Queryable,
  companyId: string,
  userId: string,
): Promise<FoundMember> {
  const found = await findMember(database, companyId, userId);
  if (found === null) throw new AppError("NOT_FOUND", "Member not found");
  return found;
}

/** A member of a company, or an invited person; null without one of this id. */
export function findMember(
  database: Queryable,
  companyId: string,
  userId: string,
): Promise<FoundMember | null> {
  return database.maybeOne(sql.type(foundMember)`
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
}

/** Whether an e-mail address belongs to a member or an invited person. */
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

/** The number of a company's members and invited persons. */
export async function countMembers(database: Queryable, companyId: string): Promise<number> {
  const { count } = await database.one(sql.type(counted)`
    select
      (select count(*) from gateway.memberships where company_id = ${companyId})
      + (select count(*) from gateway.invitations where company_id = ${companyId}) as count
  `);
  return count;
}

/** The number of a company's owners. */
export async function countOwners(database: Queryable, companyId: string): Promise<number> {
  const { count } = await database.one(sql.type(counted)`
    select count(*) as count
    from gateway.memberships
    where company_id = ${companyId} and role = 'owner'
  `);
  return count;
}

/** Changes the role of a member. */
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

/** Ends a membership, and the person's sessions in that company. */
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
 * Deletes a person without a membership. The lock comes first, so that a membership or an
 * invitation which is being created elsewhere counts.
 *
 * @returns the e-mail address; null when the person stays
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
 * The id of the person with an e-mail address, in lower case; null without one. The person is
 * locked until the transaction ends.
 */
export async function lockUserId(transaction: Transaction, email: string): Promise<string | null> {
  const found = await transaction.maybeOne(sql.type(identified)`
    select id from gateway.users where email = ${email} for key share
  `);
  return found?.id ?? null;
}
