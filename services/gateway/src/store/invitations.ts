import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { ROLES } from "../domain/roles.ts";
import type { Role } from "../domain/roles.ts";

const invitation = z.object({
  id: z.string(),
  companyId: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  passwordHash: z.string(),
});
const waitingInvitation = invitation.extend({ createdAt: z.date() });
const accepted = z.object({ role: z.enum(ROLES) });
const identified = z.object({ id: z.string() });

/** An invitation of a company for the owner of an account. */
export type Invitation = z.output<typeof invitation>;

/** An invitation with the time of its creation. */
type WaitingInvitation = z.output<typeof waitingInvitation>;

const columns = sql.fragment`
  id, company_id as "companyId", email, name, role, password_hash as "passwordHash"
`;

/** Stores an invitation. False when the company has one for the address already. */
export async function insertInvitation(database: Queryable, made: Invitation): Promise<boolean> {
  const inserted = await database.maybeOne(sql.type(identified)`
    insert into gateway.invitations (id, company_id, email, name, role, password_hash)
    values (
      ${made.id}, ${made.companyId}, ${made.email}, ${made.name}, ${made.role}, ${made.passwordHash}
    )
    on conflict (company_id, email) do nothing
    returning id
  `);
  return inserted !== null;
}

/** A company's invitation of an e-mail address; null without one. */
export function findInvitation(
  database: Queryable,
  companyId: string,
  email: string,
): Promise<Invitation | null> {
  return database.maybeOne(sql.type(invitation)`
    select ${columns} from gateway.invitations where company_id = ${companyId} and email = ${email}
  `);
}

/**
 * Deletes an invitation whose password was verified.
 *
 * @returns its current role; null when it no longer exists or has another password
 */
export function takeInvitation(
  database: Queryable,
  seen: Pick<Invitation, "id" | "companyId" | "passwordHash">,
): Promise<{ role: Role } | null> {
  return database.maybeOne(sql.type(accepted)`
    delete from gateway.invitations
    where id = ${seen.id}
      and company_id = ${seen.companyId}
      and password_hash = ${seen.passwordHash}
    returning role
  `);
}

/**
 * Deletes and returns the oldest invitation of an e-mail address, of any company; null without one.
 */
export function takeOldestInvitation(
  database: Queryable,
  email: string,
): Promise<WaitingInvitation | null> {
  return database.maybeOne(sql.type(waitingInvitation)`
    delete from gateway.invitations
    where id = (
      select id
      from gateway.invitations
      where email = ${email}
      order by created_at, id
      limit 1
      for update
    )
    returning ${columns}, created_at as "createdAt"
  `);
}

/** Deletes an invitation by the id that its company knows. False when it does not exist. */
export async function deleteInvitation(
  database: Queryable,
  { companyId, userId }: { companyId: string; userId: string },
): Promise<boolean> {
  const deleted = await database.maybeOne(sql.type(identified)`
    delete from gateway.invitations where id = ${userId} and company_id = ${companyId} returning id
  `);
  return deleted !== null;
}

/** Deletes a company's invitation of an e-mail address. */
export async function deleteInvitationOf(
  database: Queryable,
  companyId: string,
  email: string,
): Promise<void> {
  await database.query(sql.type(z.object({}))`
    delete from gateway.invitations where company_id = ${companyId} and email = ${email}
  `);
}

/** Changes the role of an invitation. False when it does not exist. */
export async function updateInvitedRole(
  database: Queryable,
  { companyId, userId, role }: { companyId: string; userId: string; role: Role },
): Promise<boolean> {
  const updated = await database.maybeOne(sql.type(identified)`
    update gateway.invitations
    set role = ${role}
    where id = ${userId} and company_id = ${companyId}
    returning id
  `);
  return updated !== null;
}
