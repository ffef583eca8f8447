import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const counted = z.object({ failures: z.number() });
const wait = z.object({ retryAfterMs: z.number() });
const existence = z.object({ exists: z.boolean() });

/** The growth of the pauses between failed attempts. */
export interface PauseRule {
  /** The number of attempts without a pause. */
  freeTries: number;
  /** The pause after the last free attempt; each further pause is twice as long. */
  firstPauseMs: number;
  longestPauseMs: number;
}

/** The number of a person's networks that are remembered. */
const NETWORKS_MAX = 10;
/** A subject with no more failures than this is deleted within the hour. */
const FEW_FAILURES = 5;

/**
 * Counts one more attempt of a subject as failed. During a pause nothing is counted, and the answer
 * is the time until the next attempt, in milliseconds. Null when the attempt may go on. Concurrent
 * attempts see each other.
 */
export async function countAccountTry(
  database: Queryable,
  subject: Buffer,
  { freeTries, firstPauseMs, longestPauseMs }: PauseRule,
): Promise<number | null> {
  const accepted = await database.maybeOne(sql.type(counted)`
    insert into gateway.account_tries as t (subject, failures, next_try_at, last_tried_at)
    values (${sql.binary(subject)}, 1, clock_timestamp(), clock_timestamp())
    on conflict (subject) do update
    set
      failures = least(t.failures + 1, 1000),
      next_try_at = clock_timestamp() + interval '1 millisecond' * case
        when t.failures + 1 < ${freeTries} then 0
        else least(
          ${firstPauseMs} * power(2, least(t.failures + 1 - ${freeTries}, 30)),
          ${longestPauseMs}
        )
      end,
      last_tried_at = clock_timestamp()
    where t.next_try_at <= clock_timestamp()
    returning failures
  `);
  if (accepted !== null) return null;
  const found = await database.maybeOne(sql.type(wait)`
    select
      greatest(ceil(extract(epoch from next_try_at - clock_timestamp()) * 1000), 0)::int
        as "retryAfterMs"
    from gateway.account_tries
    where subject = ${sql.binary(subject)}
  `);
  return found?.retryAfterMs ?? 0;
}

/** Deletes the failures of a subject that has succeeded. */
export async function forgetAccountTries(database: Queryable, subject: Buffer): Promise<void> {
  await database.query(sql.type(nothing)`
    delete from gateway.account_tries where subject = ${sql.binary(subject)}
  `);
}

/** Whether this is the first refusal of the subject within the window; if so, it is noted. */
export async function noteRefusal(
  database: Queryable,
  subject: Buffer,
  windowMs: number,
): Promise<boolean> {
  const noted = await database.maybeOne(sql.type(counted)`
    insert into gateway.account_tries as t
      (subject, failures, next_try_at, last_tried_at, refusal_noted_at)
    values (${sql.binary(subject)}, 0, now(), now(), now())
    on conflict (subject) do update
    set refusal_noted_at = now()
    where t.refusal_noted_at is null
      or t.refusal_noted_at < now() - ${windowMs} * interval '1 millisecond'
    returning failures
  `);
  return noted !== null;
}

/** Whether the person with an e-mail address has recently signed in from a network. */
export async function isKnownNetwork(
  database: Queryable,
  { email, network, sinceMs }: { email: string; network: Buffer; sinceMs: number },
): Promise<boolean> {
  const { exists } = await database.one(sql.type(existence)`
    select exists (
      select
      from gateway.users u
      join gateway.known_networks k on k.user_id = u.id
      where u.email = ${email}
        and k.network = ${sql.binary(network)}
        and k.last_signed_in_at > now() - ${sinceMs} * interval '1 millisecond'
    ) as exists
  `);
  return exists;
}

/** Remembers the network of a sign-in; of many networks the latest ones. */
export async function rememberNetwork(
  database: Queryable,
  userId: string,
  network: Buffer,
): Promise<void> {
  await database.query(sql.type(nothing)`
    insert into gateway.known_networks (user_id, network, last_signed_in_at)
    values (${userId}, ${sql.binary(network)}, now())
    on conflict (user_id, network) do update set last_signed_in_at = excluded.last_signed_in_at
  `);
  await database.query(sql.type(nothing)`
    delete from gateway.known_networks
    where user_id = ${userId}
      and network in (
        select network
        from gateway.known_networks
        where user_id = ${userId}
        order by last_signed_in_at desc, network
        offset ${NETWORKS_MAX}
      )
  `);
}

/**
 * Deletes subjects without an attempt for a day; those with few failures after an hour, so that
 * attempts on long lists of addresses do not fill the table.
 */
export async function deleteOldAccountTries(database: Queryable): Promise<void> {
  await database.query(sql.type(nothing)`
    delete from gateway.account_tries
    where last_tried_at < now() - interval '1 hour'
      and (failures < ${FEW_FAILURES} or last_tried_at < now() - interval '1 day')
  `);
}
