import { hexBytes, sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { TRANSITIONS } from "../domain/connection-states.ts";

const ABANDONED = TRANSITIONS.abandoned;

const principal = z.object({
  type: z.enum(["api_key", "user", "service", "token"]),
  id: z.string(),
  name: z.string().optional(),
});

const attemptRow = z.object({
  id: z.string(),
  companyId: z.string(),
  connectionId: z.string(),
  provider: z.string(),
  way: z.enum(["embedded", "broker"]),
  callbackUrl: z.string(),
  redirectUrl: z.string().nullable(),
  state: z.enum(["open", "completed", "replaced", "abandoned"]),
  begunBy: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(principal),
  tries: z.number(),
  isConfirming: z.boolean(),
  sealedVerifier: hexBytes.nullable(),
  companyKeyId: z.string().nullable(),
  kekId: z.string().nullable(),
  wrappedKey: hexBytes.nullable(),
});
const counted = z.object({ open: z.number() });
const idRow = z.object({ id: z.string() });
const nothing = z.object({});

/** A stored attempt of a person to connect an account. */
export type AttemptRow = z.output<typeof attemptRow>;

/** Who began an attempt. */
export type Beginner = z.output<typeof principal>;

/** An attempt is `open` only until its time is over, even before the sweep has ended it. */
const attemptColumns = sql.fragment`
  attempt.id,
  attempt.company_id as "companyId",
  attempt.connection_id as "connectionId",
  attempt.provider,
  attempt.way,
  attempt.callback_url as "callbackUrl",
  attempt.redirect_url as "redirectUrl",
  case
    when attempt.state = 'open' and attempt.expires_at <= clock_timestamp() then 'abandoned'
    else attempt.state
  end as "state",
  attempt.begun_by::text as "begunBy",
  attempt.tries,
  coalesce(attempt.confirming_until >= clock_timestamp(), false) as "isConfirming",
  encode(attempt.sealed_verifier, 'hex') as "sealedVerifier",
  company_key.id as "companyKeyId",
  company_key.kek_id as "kekId",
  encode(company_key.wrapped_key, 'hex') as "wrappedKey"
`;

/** The attempt of a token, of any company: the token itself is the right to continue. */
export async function findAttemptByToken(
  database: Queryable,
  tokenHash: Buffer,
): Promise<AttemptRow | null> {
  return database.maybeOne(sql.prepared("attempt_find_by_token", attemptRow)`
    select ${attemptColumns}
    from integrations.authorization_attempts as attempt
    left join integrations.company_keys as company_key on company_key.id = attempt.company_key_id
    where attempt.token_hash = ${sql.binary(tokenHash)}
  `);
}

/**
 * The newest attempt of a connection that goes through the broker, of any company. A callback of the
 * broker's page names only the connection, and its content is not trusted (D39).
 */
export async function findBrokerAttempt(
  database: Queryable,
  connectionId: string,
): Promise<AttemptRow | null> {
  return database.maybeOne(sql.prepared("attempt_find_by_connection", attemptRow)`
    select ${attemptColumns}
    from integrations.authorization_attempts as attempt
    left join integrations.company_keys as company_key on company_key.id = attempt.company_key_id
    where attempt.connection_id = ${connectionId} and attempt.way = 'broker'
    order by attempt.created_at desc
    limit 1
  `);
}

/** The attempt with an id that goes through the broker, of any company: the broker names nothing else. */
export async function findBrokerAttemptById(
  database: Queryable,
  attemptId: string,
): Promise<AttemptRow | null> {
  return database.maybeOne(sql.prepared("attempt_find_by_id", attemptRow)`
    select ${attemptColumns}
    from integrations.authorization_attempts as attempt
    left join integrations.company_keys as company_key on company_key.id = attempt.company_key_id
    where attempt.id = ${attemptId} and attempt.way = 'broker'
  `);
}

/** Ends an attempt that has succeeded; false when it had ended before. */
export async function completeAttempt(
  transaction: Transaction,
  { id, companyId }: Pick<AttemptRow, "id" | "companyId">,
): Promise<boolean> {
  const completed = await transaction.maybeOne(sql.prepared("attempt_complete", idRow)`
    update integrations.authorization_attempts as attempt
    set
      state = 'completed', ended_at = clock_timestamp(), confirming_until = null,
      company_key_id = null, sealed_verifier = null
    where attempt.id = ${id}
      and attempt.company_id = ${companyId}
      and attempt.state = 'open'
      and attempt.expires_at > clock_timestamp()
    returning attempt.id
  `);
  return completed !== null;
}

/**
 * Abandons attempts whose time is over, of all companies, with the connections that waited for them.
 *
 * @returns the number of attempts, at most `limit`
 */
export async function abandonAttempts(database: Queryable, limit: number): Promise<number> {
  const { open } = await database.one(sql.prepared("attempts_abandon", counted)`
    with due as (
      select attempt.id
      from integrations.authorization_attempts as attempt
      where attempt.state = 'open' and attempt.expires_at <= clock_timestamp()
      order by attempt.expires_at
      limit ${limit}::integer
      for update skip locked
    ),
    ended as (
      update integrations.authorization_attempts as attempt
      set
        state = 'abandoned', ended_at = clock_timestamp(), confirming_until = null,
        company_key_id = null, sealed_verifier = null
      from due
      where attempt.id = due.id
      returning attempt.company_id, attempt.connection_id
    ),
    left_behind as (
      update integrations.connections as connection
      set status = ${ABANDONED.to}, updated_at = clock_timestamp()
      from ended
      where connection.company_id = ended.company_id
        and connection.id = ended.connection_id
        and connection.status = any(${sql.array(ABANDONED.from, "text")})
      returning connection.id
    )
    select (select count(*) from ended)::integer as "open"
    from (select count(*) from left_behind) as abandoned
  `);
  return open;
}

/**
 * Abandons pending connections that nobody can complete, of all companies, because no attempt was
 * stored for them.
 *
 * @returns their number, at most `limit`
 */
export async function abandonConnections(
  database: Queryable,
  { limit, olderThanMs }: { limit: number; olderThanMs: number },
): Promise<number> {
  const { rowCount } = await database.query(sql.prepared("connections_abandon", nothing)`
    update integrations.connections as connection
    set status = ${ABANDONED.to}, updated_at = clock_timestamp()
    where connection.id in (
      select pending.id
      from integrations.connections as pending
      where pending.status = 'pending'
        and pending.created_at
          <= clock_timestamp() - ${olderThanMs}::integer * interval '1 millisecond'
        and not exists (
          select
          from integrations.authorization_attempts as attempt
          where attempt.connection_id = pending.id and attempt.state = 'open'
        )
      limit ${limit}::integer
      for update skip locked
    )
  `);
  return rowCount;
}

/**
 * Deletes attempts that ended long ago, of all companies.
 *
 * @returns their number, at most `limit`
 */
export async function deleteEndedAttempts(
  database: Queryable,
  { limit, olderThanMs }: { limit: number; olderThanMs: number },
): Promise<number> {
  const { rowCount } = await database.query(sql.prepared("attempts_delete_ended", nothing)`
    delete from integrations.authorization_attempts
    where id in (
      select attempt.id
      from integrations.authorization_attempts as attempt
      where attempt.state <> 'open'
        and attempt.ended_at
          < clock_timestamp() - ${olderThanMs}::integer * interval '1 millisecond'
      limit ${limit}::integer
    )
  `);
  return rowCount;
}
