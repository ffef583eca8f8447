import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import type { ConnectionKey } from "../connections/connection-key.ts";
import { TRANSITIONS } from "../connections/states.ts";
import { hexBytes } from "./bytes.ts";

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
  sealedVerifier: hexBytes.nullable(),
  companyKeyId: z.string().nullable(),
  kekId: z.string().nullable(),
  wrappedKey: hexBytes.nullable(),
});
const counted = z.object({ open: z.number() });
const idRow = z.object({ id: z.string() });
const nothing = z.object({});

/** One attempt of a person to connect an account, as it is stored; open ones may be too old by now. */
export type AttemptRow = z.output<typeof attemptRow>;

/** Who began an attempt. */
export type Beginner = z.output<typeof principal>;

/** An attempt to be stored. */
export interface NewAttempt extends ConnectionKey {
  id: string;
  provider: string;
  way: AttemptRow["way"];
  /** SHA-256 of its token. */
  tokenHash: Buffer;
  callbackUrl: string;
  redirectUrl: string | null;
  verifier: { companyKeyId: string; sealed: Buffer } | null;
  begunBy: Beginner;
  lifeMs: number;
}

/** `open` only as long as it is not too old: nobody has to wait for the sweep. */
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
  encode(attempt.sealed_verifier, 'hex') as "sealedVerifier",
  company_key.id as "companyKeyId",
  company_key.kek_id as "kekId",
  encode(company_key.wrapped_key, 'hex') as "wrappedKey"
`;

/** How many attempts of a company are open. */
export async function countOpenAttempts(database: Queryable, companyId: string): Promise<number> {
  const { open } = await database.one(sql.prepared("attempts_count_open", counted)`
    select count(*)::integer as "open"
    from integrations.authorization_attempts as attempt
    where attempt.company_id = ${companyId}
      and attempt.state = 'open'
      and attempt.expires_at > clock_timestamp()
  `);
  return open;
}

/** Ends the open attempt of a connection, if it has one: a newer one takes its place. */
export async function replaceOpenAttempt(
  transaction: Transaction,
  { companyId, connectionId }: ConnectionKey,
): Promise<void> {
  await transaction.query(sql.prepared("attempt_replace", nothing)`
    update integrations.authorization_attempts as attempt
    set state = 'replaced', ended_at = clock_timestamp()
    where attempt.company_id = ${companyId}
      and attempt.connection_id = ${connectionId}
      and attempt.state = 'open'
  `);
}

/** Stores an attempt. The connection must be there and have no open one. */
export async function insertAttempt(transaction: Transaction, attempt: NewAttempt): Promise<void> {
  const { verifier } = attempt;
  await transaction.query(sql.prepared("attempt_insert", nothing)`
    insert into integrations.authorization_attempts (
      id, company_id, connection_id, provider, way, token_hash, callback_url, redirect_url,
      company_key_id, sealed_verifier, begun_by, expires_at
    )
    values (
      ${attempt.id}, ${attempt.companyId}, ${attempt.connectionId}, ${attempt.provider},
      ${attempt.way}, ${sql.binary(attempt.tokenHash)}, ${attempt.callbackUrl},
      ${attempt.redirectUrl}, ${verifier?.companyKeyId ?? null}::uuid,
      decode(${verifier?.sealed.toString("hex") ?? null}::text, 'hex'),
      ${JSON.stringify(attempt.begunBy)}::json,
      clock_timestamp() + ${attempt.lifeMs}::integer * interval '1 millisecond'
    )
  `);
}

/** The attempt of a token. Of any company: the token itself is the right to go on with it. */
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
 * The newest attempt of a connection that goes through the broker. Of any company: a callback of the
 * broker's page names nothing but the connection, and what it says is not believed (D39).
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

/**
 * Takes the right to ask the provider or broker for the outcome of an attempt, for a time; false when
 * somebody else has it, when it was asked too often, or when the attempt is over.
 */
export async function claimConfirmation(
  database: Queryable,
  { id, companyId }: Pick<AttemptRow, "id" | "companyId">,
  { leaseMs, triesMax }: { leaseMs: number; triesMax: number },
): Promise<boolean> {
  const claimed = await database.maybeOne(sql.prepared("attempt_claim", idRow)`
    update integrations.authorization_attempts as attempt
    set
      confirming_until = clock_timestamp() + ${leaseMs}::integer * interval '1 millisecond',
      tries = attempt.tries + 1
    where attempt.id = ${id}
      and attempt.company_id = ${companyId}
      and attempt.state = 'open'
      and attempt.expires_at > clock_timestamp()
      and attempt.tries < ${triesMax}::integer
      and (
        attempt.confirming_until is null or attempt.confirming_until < clock_timestamp()
      )
    returning attempt.id
  `);
  return claimed !== null;
}

/** Gives the right back when nothing came of it. */
export async function releaseConfirmation(
  database: Queryable,
  { id, companyId }: Pick<AttemptRow, "id" | "companyId">,
): Promise<void> {
  await database.query(sql.prepared("attempt_release", nothing)`
    update integrations.authorization_attempts as attempt
    set confirming_until = null
    where attempt.id = ${id} and attempt.company_id = ${companyId} and attempt.state = 'open'
  `);
}

/** Ends an attempt that has succeeded; false when it is over by now. */
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
 * Abandons attempts that are too old, of all companies, with the connections that were waiting for
 * them; says how many attempts there were, at most `limit`.
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
 * Abandons pending connections that nobody can complete any more, of all companies: an attempt that
 * began with them never came about. Says how many, at most `limit`.
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

/** Removes attempts that ended long ago, of all companies; says how many, at most `limit`. */
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
