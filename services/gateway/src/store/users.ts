import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const signInUser = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  passwordHash: z.string(),
  memberships: z.array(z.object({ companyId: z.string() })),
});
const password = z.object({ passwordHash: z.string() });
const identified = z.object({ id: z.string() });

/**
 * Somebody who may want to sign in, with the companies in the order of preference: where they signed
 * in last, else where they came first.
 */
export type SignInUser = z.infer<typeof signInUser>;

/** The person with an e-mail address, given in lower case; null when there is none. */
export function findSignInUser(database: Queryable, email: string): Promise<SignInUser | null> {
  return database.maybeOne(sql.type(signInUser)`
    select
      u.id,
      u.email,
      u.name,
      u.password_hash as "passwordHash",
      coalesce(
        (
          select json_agg(
            json_build_object('companyId', m.company_id)
            order by m.last_signed_in_at desc nulls last, m.created_at, m.company_id
          )
          from gateway.memberships m
          where m.user_id = u.id
        ),
        '[]'
      ) as memberships
    from gateway.users u
    where u.email = ${email}
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

/** Stores another password, unless it was changed meanwhile: then the answer is false. */
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

/** Stores another password, whatever the old one was. */
export async function overwritePassword(
  database: Queryable,
  userId: string,
  passwordHash: string,
): Promise<void> {
  await database.query(sql.type(z.object({}))`
    update gateway.users set password_hash = ${passwordHash} where id = ${userId}
  `);
}
