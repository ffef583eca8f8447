import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const counted = z.object({ failures: z.number() });
const wait = z.object({ retryAfterMs: z.number() });
const existence = z.object({ exists: z.boolean() });

/** How the pauses between failed tries grow. */
export interface PauseRule {
  /** So many tries need no pause. */
  freeTries: number;
  /** The pause after the last free one; each further one is twice as long. */
  firstPauseMs: number;
  longestPauseMs: number;
}

/** Somebody's networks that are remembered as known. */
const NETWORKS_MAX = 10;
/** So many failures are forgotten within the hour. */
const FEW_FAILURES = 5;

/**
 * Counts one more try of a subject as failed, unless it is in a pause: then the answer is the time
 * until the next try, in milliseconds. Null when the try may go on. Of tries that come together, each
 * sees those before it.
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

/** Forgets the failures of a subject that has succeeded. */
export async function forgetAccountTries(database: Queryable, subject: Buffer): Promise<void> {
  await database.query(sql.type(nothing)`
    delete from gateway.account_tries where subject = ${sql.binary(subject)}
  `);
}

/** Whether nobody else has noted a refusal of the subject's tries within the window; then this is the note. */
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

/** Whether the person with an e-mail address has signed in from a network lately. */
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

/** Remembers where a person has signed in from; of many networks the latest ones. */
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
 * Removes subjects that were left alone for a day, and after an hour those that had hardly been tried:
 * whoever goes through long lists of addresses shall not fill the table.
 */
export async function deleteOldAccountTries(database: Queryable): Promise<void> {
  await database.query(sql.type(nothing)`
    delete from gateway.account_tries
    where last_tried_at < now() - interval '1 hour'
      and (failures < ${FEW_FAILURES} or last_tried_at < now() - interval '1 day')
  `);
}
