import { constraintOf, sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { ROLES } from "../domain/roles.ts";
import { SESSION_IDLE_MS } from "../domain/session-life.ts";
import { ownLimitsColumns, ownLimitsRow } from "./rate-limits.ts";

const storedSession = ownLimitsRow.extend({
  tokenHash: z.instanceof(Buffer),
  id: z.string(),
  companyId: z.string(),
  companyName: z.string(),
  userId: z.string(),
  userName: z.string(),
  email: z.string(),
  role: z.enum(ROLES),
  lastUsedAt: z.date(),
  endsAt: z.date(),
});
const identified = z.object({ id: z.string() });
const nothing = z.object({});

/** The sessions of one person; a further one ends the oldest. */
const SESSIONS_MAX = 100;

/** A session with the person, the company and the role as they are now. */
export type StoredSession = z.infer<typeof storedSession>;

/** A session to store. */
export interface NewSession {
  id: string;
  tokenHash: Buffer;
  companyId: string;
  userId: string;
  /** The stored hash against which the person's password was verified. */
  passwordHash: string;
  endsAt: Date;
}

/** The session of a token's hash, or null. It may have been idle for too long. */
export async function findSession(
  database: Queryable,
  tokenHash: Buffer,
): Promise<StoredSession | null> {
  const [session] = await findSessions(database, [tokenHash]);
  return session ?? null;
}

/** The sessions of tokens' hashes. They may have been idle for too long. */
export function findSessions(
  database: Queryable,
  tokenHashes: readonly Buffer[],
): Promise<readonly StoredSession[]> {
  return database.any(sql.prepared("sessions_find", storedSession)`
    select
      s.token_hash as "tokenHash",
      s.id,
      s.company_id as "companyId",
      c.name as "companyName",
      s.user_id as "userId",
      u.name as "userName",
      u.email,
      m.role,
      s.last_used_at as "lastUsedAt",
      s.expires_at as "endsAt",
      ${ownLimitsColumns}
    from gateway.sessions s
    join gateway.memberships m on m.company_id = s.company_id and m.user_id = s.user_id
    join gateway.companies c on c.id = s.company_id
    join gateway.users u on u.id = s.user_id
    where s.token_hash = any(${sql.array([...tokenHashes], "bytea")})
  `);
}

/**
 * Stores a session, and the company that its person signed in to last. False when the password was
 * changed meanwhile, or the membership has ended. The lock on the person prevents a change of the
 * password, which ends sessions, between the two statements.
 */
export async function insertSession(transaction: Queryable, session: NewSession): Promise<boolean> {
  const inserted = await transaction.maybeOne(sql.type(identified)`
    with signed_in as (
      select m.company_id, m.user_id
      from gateway.users u
      join gateway.memberships m on m.user_id = u.id
      where u.id = ${session.userId}
        and u.password_hash = ${session.passwordHash}
        and m.company_id = ${session.companyId}
      for share of u
    )
    insert into gateway.sessions (id, token_hash, company_id, user_id, expires_at)
    select
      ${session.id},
      ${sql.binary(session.tokenHash)},
      company_id,
      user_id,
      ${sql.timestamp(session.endsAt)}
    from signed_in
    returning id
  `);
  if (inserted === null) return false;
  await noteSignIn(transaction, session);
  await transaction.query(sql.type(nothing)`
    delete from gateway.sessions
    where id in (
      select id
      from gateway.sessions
      where user_id = ${session.userId}
      order by created_at desc, id desc
      offset ${SESSIONS_MAX}
    )
  `);
  return true;
}

/** The result of moving a session to another company. */
export type RebindOutcome = "rebound" | "ended" | "no member";

/**
 * Moves a session to another company of its person, under a new token. It is one statement: of two
 * callers with the old token one succeeds, and none whose membership ends meanwhile.
 */
export async function rebindSession(
  transaction: Queryable,
  change: { id: string; from: Buffer; to: Buffer; companyId: string; userId: string },
): Promise<RebindOutcome> {
  try {
    const rebound = await transaction.maybeOne(sql.type(identified)`
      update gateway.sessions s
      set token_hash = ${sql.binary(change.to)}, company_id = m.company_id, last_used_at = now()
      from gateway.memberships m
      where s.id = ${change.id}
        and s.token_hash = ${sql.binary(change.from)}
        and m.company_id = ${change.companyId}
        and m.user_id = s.user_id
      returning s.id
    `);
    if (rebound === null) {
      return (await isMember(transaction, change)) ? "ended" : "no member";
    }
    await noteSignIn(transaction, change);
    return "rebound";
  } catch (error) {
    // The membership ended between the read and the foreign key's check.
    if (constraintOf(error) === "sessions_membership_fkey") return "no member";
    throw error;
  }
}

async function isMember(
  database: Queryable,
  membership: { companyId: string; userId: string },
): Promise<boolean> {
  const found = await database.maybeOne(sql.type(nothing)`
    select
    from gateway.memberships
    where company_id = ${membership.companyId} and user_id = ${membership.userId}
  `);
  return found !== null;
}

/** The next sign-in without a company uses this one. */
async function noteSignIn(
  database: Queryable,
  membership: { companyId: string; userId: string },
): Promise<void> {
  await database.query(sql.type(nothing)`
    update gateway.memberships
    set last_signed_in_at = now()
    where company_id = ${membership.companyId} and user_id = ${membership.userId}
  `);
}

/** Ends a session. False when it had ended before. */
export async function deleteSession(database: Queryable, id: string): Promise<boolean> {
  const deleted = await database.maybeOne(sql.type(identified)`
    delete from gateway.sessions where id = ${id} returning id
  `);
  return deleted !== null;
}

/** Ends all sessions of a person, in all companies, except one. */
export async function deleteOtherSessions(
  database: Queryable,
  userId: string,
  exceptId: string | null,
): Promise<void> {
  await database.query(sql.type(nothing)`
    delete from gateway.sessions
    where user_id = ${userId} and (${exceptId}::uuid is null or id <> ${exceptId})
  `);
}

/** Deletes expired sessions. */
export async function deleteEndedSessions(database: Queryable): Promise<void> {
  await database.query(sql.type(nothing)`
    delete from gateway.sessions
    where expires_at < now()
      or last_used_at < now() - ${SESSION_IDLE_MS} * interval '1 millisecond'
  `);
}
