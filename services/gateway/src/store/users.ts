import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { ROLES } from "../domain/roles.ts";

const signInUser = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  passwordHash: z.string(),
  memberships: z.array(z.object({ companyId: z.string() })),
});
const membership = z.object({ userId: z.string(), companyId: z.string() });
const ownCompany = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  isInvited: z.boolean(),
});
const password = z.object({ passwordHash: z.string() });
const identified = z.object({ id: z.string() });

/** The length of a person's list of companies. */
const COMPANIES_MAX = 100;

/** A company of a person, or one that has invited the person. */
export type OwnCompany = z.infer<typeof ownCompany>;

/**
 * A person with the companies in the order of preference: first the last used one, then the oldest
 * membership.
 */
export type SignInUser = z.infer<typeof signInUser>;

/** The person with an e-mail address, in lower case; null without one. */
export function findSignInUser(database: Queryable, email: string): Promise<SignInUser | null> {
  return database.maybeOne(sql.type(signInUser)`
    select
      u.id,
      u.email,
      u.name,
      u.password_hash as "passwordHash",
      coalesce(
        (
          select json_agg(json_build_object('companyId', preferred.company_id))
          from (
            select m.company_id
            from gateway.memberships m
            where m.user_id = u.id
            order by m.last_signed_in_at desc nulls last, m.created_at, m.company_id
            limit ${COMPANIES_MAX}
          ) as preferred
        ),
        '[]'
      ) as memberships
    from gateway.users u
    where u.email = ${email}
  `);
}

/** The companies of persons, for each person as many as a list may have. */
export function listMemberships(
  database: Queryable,
  userIds: readonly string[],
): Promise<readonly { userId: string; companyId: string }[]> {
  return database.any(sql.type(membership)`
    select u.id as "userId", m.company_id as "companyId"
    from unnest(${sql.array([...userIds], "uuid")}) as u (id)
    cross join lateral (
      select company_id
      from gateway.memberships
      where user_id = u.id
      order by company_id
      limit ${COMPANIES_MAX}
    ) as m
  `);
}

/** Whether an e-mail address, in lower case, has an account. */
export async function hasUser(database: Queryable, email: string): Promise<boolean> {
  const found = await database.maybeOne(sql.type(identified)`
    select id from gateway.users where email = ${email}
  `);
  return found !== null;
}

/** The companies of a person, the last used one first, then the invitations, oldest first. */
export function listOwnCompanies(
  database: Queryable,
  { userId, email }: { userId: string; email: string },
): Promise<readonly OwnCompany[]> {
  return database.any(sql.type(ownCompany)`
    (
      select c.id, c.name, m.role, false as "isInvited"
      from gateway.memberships m
      join gateway.companies c on c.id = m.company_id
      where m.user_id = ${userId}
      order by m.last_signed_in_at desc nulls last, m.created_at, m.company_id
      limit ${COMPANIES_MAX}
    )
    union all
    (
      select c.id, c.name, i.role, true
      from gateway.invitations i
      join gateway.companies c on c.id = i.company_id
      where i.email = ${email}
      order by i.created_at, i.id
      limit ${COMPANIES_MAX}
    )
  `);
}

/** The stored hash of a person's password; null when the person does not exist. */
export async function findPasswordHash(
  database: Queryable,
  userId: string,
): Promise<string | null> {
  const found = await database.maybeOne(sql.type(password)`
    select password_hash as "passwordHash" from gateway.users where id = ${userId}
  `);
  return found?.passwordHash ?? null;
}

/** Stores a new password. False when it was changed meanwhile. */
export async function replacePassword(
  database: Queryable,
  change: { userId: string; from: string; to: string },
): Promise<boolean> {
  const changed = await database.maybeOne(sql.type(identified)`
    update gateway.users
    set password_hash = ${change.to}
    where id = ${change.userId} and password_hash = ${change.from}
    returning id
  `);
  return changed !== null;
}

/** Stores a new password, whatever the old one was. */
export async function overwritePassword(
  database: Queryable,
  userId: string,
  passwordHash: string,
): Promise<void> {
  await database.query(sql.type(z.object({}))`
    update gateway.users set password_hash = ${passwordHash} where id = ${userId}
  `);
}
