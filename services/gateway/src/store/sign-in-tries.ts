import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const counted = z.object({ count: z.number() });
const wait = z.object({ retryAfterMs: z.number() });
const nothing = z.object({});

/** The number of attempts of a subject in any window. */
export interface TryLimit {
  /** SHA-256 of the limit's subject. */
  subject: Buffer;
  max: number;
  windowMs: number;
}

/**
 * Counts one more attempt of a subject. When the window is full, nothing is stored and the answer
 * is the time until the next attempt, in milliseconds. Null when the attempt may go on. Concurrent
 * attempts wait for each other.
 */
export async function countTry(database: Queryable, limit: TryLimit): Promise<number | null> {
  const { subject, max, windowMs } = limit;
  const since = sql.fragment`clock_timestamp() - ${windowMs} * interval '1 millisecond'`;
  const accepted = await database.maybeOne(sql.type(counted)`
    insert into gateway.sign_in_tries as t (subject, tried_at, last_tried_at)
    values (${sql.binary(subject)}, array[clock_timestamp()], clock_timestamp())
    on conflict (subject) do update
    set
      tried_at = array(select r.at from unnest(t.tried_at) as r (at) where r.at > ${since})
        || clock_timestamp(),
      last_tried_at = clock_timestamp()
    where (select count(*) from unnest(t.tried_at) as r (at) where r.at > ${since}) < ${max}
    returning cardinality(tried_at) as count
  `);
  if (accepted !== null) return null;
  const { retryAfterMs } = await database.one(sql.type(wait)`
    select
      coalesce(
        ceil(extract(epoch from min(r.at) - (${since})) * 1000),
        0
      )::int as "retryAfterMs"
    from gateway.sign_in_tries t, unnest(t.tried_at) as r (at)
    where t.subject = ${sql.binary(subject)} and r.at > ${since}
  `);
  return retryAfterMs;
}

/** Deletes the subjects whose last attempt is older than the window. */
export async function deleteOldTries(database: Queryable, windowMs: number): Promise<void> {
  await database.query(sql.type(nothing)`
    delete from gateway.sign_in_tries
    where last_tried_at < now() - ${windowMs} * interval '1 millisecond'
  `);
}
