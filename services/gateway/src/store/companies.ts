import { constraintOf, sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import type { Role } from "../domain/roles.ts";

const nothing = z.object({});
const company = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.date(),
  owners: z.array(z.string()),
});
const identified = z.object({ id: z.string() });
const existence = z.object({ exists: z.boolean() });

/** What the one who adds a member is told when the e-mail address is one's already, or invited. */
export const ALREADY_MEMBER = "This person is a member of the company.";

/** Any fixed number: whoever holds it decides whether the database gets its first company. */
const FIRST_COMPANY_LOCK = 7_320_419_022_302;

/** A company as those see it who run the installation. */
export type Company = z.infer<typeof company>;

/** A person to be stored. */
export interface NewUser {
  id: string;
  /** In lower case. */
  email: string;
  name: string;
  passwordHash: string;
}

/** Stores a company. */
export async function insertCompany(
  database: Queryable,
  company: { id: string; name: string },
): Promise<void> {
  await database.query(sql.type(nothing)`
    insert into gateway.companies (id, name) values (${company.id}, ${company.name})
  `);
}

/** Stores a person, unless the e-mail address has an account already: then the answer is false. */
export async function insertUser(database: Queryable, user: NewUser): Promise<boolean> {
  const inserted = await database.maybeOne(sql.type(identified)`
    insert into gateway.users (id, email, name, password_hash)
    values (${user.id}, ${user.email}, ${user.name}, ${user.passwordHash})
    on conflict (email) do nothing
    returning id
  `);
  return inserted !== null;
}

/**
 * Makes a person a member of a company, from now on unless another time is given.
 *
 * @throws AppError NOT_FOUND when the company does not exist, CONFLICT when the person is a member
 * of it
 */
export async function insertMembership(
  database: Queryable,
  membership: { companyId: string; userId: string; role: Role; createdAt?: Date },
): Promise<void> {
  const { createdAt } = membership;
  const begin = createdAt === undefined ? sql.fragment`now()` : sql.timestamp(createdAt);
  try {
    await database.query(sql.type(nothing)`
      insert into gateway.memberships (company_id, user_id, role, created_at)
      values (${membership.companyId}, ${membership.userId}, ${membership.role}, ${begin})
    `);
  } catch (error) {
    const constraint = constraintOf(error);
    if (constraint === "memberships_company_fkey") {
      throw new AppError("NOT_FOUND", "Company not found", { cause: error });
    }
    if (constraint !== "memberships_pkey") throw error;
    throw new AppError("CONFLICT", ALREADY_MEMBER, { cause: error });
  }
}

/** Those of some ids that are companies', in lower case. */
export async function findCompanyIds(
  database: Queryable,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.any(sql.type(identified)`
    select id from gateway.companies where id = any(${sql.array([...ids], "uuid")})
  `);
  return new Set(rows.map(({ id }) => id));
}

/** Whether there is a company at present. */
export async function hasCompany(database: Queryable): Promise<boolean> {
  const { exists } = await database.one(sql.type(existence)`
    select exists (select from gateway.companies) as exists
  `);
  return exists;
}

/**
 * Whether there is no company yet. The answer stays true until the transaction ends: others who ask
 * meanwhile wait for it.
 */
export async function lockWhetherEmpty(transaction: Transaction): Promise<boolean> {
  await transaction.query(sql.type(nothing)`
    select from (select pg_advisory_xact_lock(${FIRST_COMPANY_LOCK})) as lock
  `);
  return !(await hasCompany(transaction));
}

/** All companies with the e-mail addresses of their owners, the oldest first. */
export function listCompanies(database: Queryable): Promise<readonly Company[]> {
  return database.any(sql.type(company)`
    select
      c.id,
      c.name,
      c.created_at as "createdAt",
      array(
        select u.email
        from gateway.memberships m
        join gateway.users u on u.id = m.user_id
        where m.company_id = c.id and m.role = 'owner'
        order by u.email
      ) as owners
    from gateway.companies c
    order by c.created_at, c.id
  `);
}
