import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import type { ConnectionKey } from "../domain/connection-key.ts";
import type { AttemptRow, Beginner } from "./authorization-attempts.ts";

const counted = z.object({ open: z.number() });
const claimedRow = z.object({ tries: z.number() });
const nothing = z.object({});

/**
 * The number of ended attempts that a connection keeps: callers may begin a hundred attempts a minute,
 * and each replaces the one before.
 */
const ENDED_KEPT = 5;

/** An attempt to be stored. */
export interface NewAttempt extends ConnectionKey {
  id: string;
  provider: string;
  way: AttemptRow["way"];
  /** SHA-256 of the attempt's token. */
  tokenHash: Buffer;
  callbackUrl: string;
  redirectUrl: string | null;
  verifier: { companyKeyId: string; sealed: Buffer } | null;
  begunBy: Beginner;
  lifeMs: number;
}

/** The number of a company's open attempts, without that of the connection, which would be replaced. */
export async function countOtherAttempts(
  database: Queryable,
  { companyId, connectionId }: ConnectionKey,
): Promise<number> {
  const { open } = await database.one(sql.prepared("attempts_count_others", counted)`
    select count(*)::integer as "open"
    from integrations.authorization_attempts as attempt
    where attempt.company_id = ${companyId}
      and attempt.connection_id <> ${connectionId}
      and attempt.state = 'open'
      and attempt.expires_at > clock_timestamp()
  `);
  return open;
}

/**
 * Ends the open attempt of a connection, if there is one, because a newer one replaces it. The newest
 * few ended attempts stay, for a person who comes back late. Accounts that a person has connected at
 * the broker are polled for soon.
 */
export async function replaceOpenAttempt(
  transaction: Transaction,
  { companyId, connectionId }: ConnectionKey,
): Promise<void> {
  await transaction.query(sql.prepared("attempt_replace", nothing)`
    with forgotten as (
      delete from integrations.authorization_attempts as attempt
      where attempt.id in (
        select ended.id
        from integrations.authorization_attempts as ended
        where ended.company_id = ${companyId}
          and ended.connection_id = ${connectionId}
          and ended.state <> 'open'
        order by ended.created_at desc, ended.id desc
        offset ${ENDED_KEPT}::integer
      )
    ),
    hastened as (
      update integrations.broker_leftovers as leftover
      set next_try_at = clock_timestamp()
      from integrations.authorization_attempts as attempt
      where attempt.company_id = ${companyId}
        and attempt.connection_id = ${connectionId}
        and attempt.state = 'open'
        and leftover.attempt_id = attempt.id
    )
    update integrations.authorization_attempts as attempt
    set
      state = 'replaced', ended_at = clock_timestamp(), confirming_until = null,
      company_key_id = null, sealed_verifier = null
    where attempt.company_id = ${companyId}
      and attempt.connection_id = ${connectionId}
      and attempt.state = 'open'
  `);
}

/** Stores an attempt. The connection must exist and have no open attempt. */
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

/**
 * Claims the question to the provider or broker about the outcome of an attempt, for a time.
 *
 * @param triesMax null: without a limit
 * @returns the number of the try, which releases the claim; null when another process has the claim,
 * too many tries were made, or the attempt is over
 */
export async function claimConfirmation(
  database: Queryable,
  { id, companyId }: Pick<AttemptRow, "id" | "companyId">,
  { leaseMs, triesMax }: { leaseMs: number; triesMax: number | null },
): Promise<number | null> {
  const claimed = await database.maybeOne(sql.prepared("attempt_claim", claimedRow)`
    update integrations.authorization_attempts as attempt
    set
      confirming_until = clock_timestamp() + ${leaseMs}::integer * interval '1 millisecond',
      tries = attempt.tries + 1
    where attempt.id = ${id}
      and attempt.company_id = ${companyId}
      and attempt.state = 'open'
      and attempt.expires_at > clock_timestamp()
      and (${triesMax}::integer is null or attempt.tries < ${triesMax}::integer)
      and (
        attempt.confirming_until is null or attempt.confirming_until < clock_timestamp()
      )
    returning attempt.tries
  `);
  return claimed?.tries ?? null;
}

/** Releases the claim when there was no outcome; a later claim of another process stays. */
export async function releaseConfirmation(
  database: Queryable,
  { id, companyId }: Pick<AttemptRow, "id" | "companyId">,
  tries: number,
): Promise<void> {
  await database.query(sql.prepared("attempt_release", nothing)`
    update integrations.authorization_attempts as attempt
    set confirming_until = null
    where attempt.id = ${id}
      and attempt.company_id = ${companyId}
      and attempt.state = 'open'
      and attempt.tries = ${tries}::integer
  `);
}
