import type { Queryable } from "@workflow/db";
import { sql } from "@workflow/db";
import { z } from "zod";

/** An event of a consumer, and the schema of the table. */
export interface LetterAddress {
  schema: string;
  stream: string;
  consumer: string;
  eventId: string;
}

/** Bytes of kept bodies: of one message (as the bus takes by default), of one company, and of all. */
const BODY_BYTES_MAX = 1024 * 1024;
const COMPANY_BYTES_MAX = 64 * 1024 * 1024;
const TABLE_BYTES_MAX = 1024 * 1024 * 1024;

const nothing = z.object({});
const countedRow = z.object({ attempts: z.number() });

/** Counts one more failure of an event and returns the count. */
export async function countFailure(
  database: Queryable,
  { schema, stream, consumer, eventId }: LetterAddress,
  failure: { id: string; type: string; companyId: string | null; error: string },
): Promise<number> {
  const { attempts } = await database.one(sql.type(countedRow)`
    insert into ${sql.identifier([schema, "dead_letters"])} as letter
      (id, stream, consumer, event_id, type, company_id, attempts, error)
    values (
      ${failure.id}, ${stream}, ${consumer}, ${eventId}, ${failure.type}, ${failure.companyId},
      1, ${failure.error}
    )
    on conflict (consumer, stream, event_id) do update
    set attempts = letter.attempts + 1, error = excluded.error, last_failed_at = now()
    returning attempts
  `);
  return attempts;
}

const keptRow = z.object({ hasBody: z.boolean() });

/**
 * Makes an event with a counted failure a dead letter. The body is left out when it is too big, or when
 * those of its company or of all letters are.
 *
 * @returns null when nothing was counted, or somebody has deleted it since
 */
export async function keepLetter(
  database: Queryable,
  { schema, stream, consumer, eventId }: LetterAddress,
  body: { bytes: Uint8Array; gzipped: boolean },
): Promise<{ hasBody: boolean } | null> {
  const bytes = body.bytes.byteLength;
  const kept = bytes <= BODY_BYTES_MAX ? Buffer.from(body.bytes) : Buffer.alloc(0);
  return database.maybeOne(sql.type(keptRow)`
    with letter as (
      select id, company_id
      from ${sql.identifier([schema, "dead_letters"])}
      where consumer = ${consumer} and stream = ${stream} and event_id = ${eventId}
    ),
    held as (
      select coalesce(sum(other.body_bytes), 0) as of_all,
        coalesce(sum(other.body_bytes)
          filter (where other.company_id is not distinct from letter.company_id), 0) as of_company
      from letter, ${sql.identifier([schema, "dead_letters"])} as other
      where other.body is not null and other.id <> letter.id
    )
    update ${sql.identifier([schema, "dead_letters"])} as kept
    set dead_at = coalesce(kept.dead_at, now()), gzipped = ${body.gzipped}, body_bytes = ${bytes},
      body = case
        when ${bytes}::integer <= ${BODY_BYTES_MAX}
          and held.of_company + ${bytes} <= ${COMPANY_BYTES_MAX}
          and held.of_all + ${bytes} <= ${TABLE_BYTES_MAX}
        then ${sql.binary(kept)}::bytea
      end
    from letter, held
    where kept.id = letter.id
    returning kept.body is not null as "hasBody"
  `);
}

/** Deletes the failures of an event, whether it became a dead letter or not. */
export async function deleteFailures(
  database: Queryable,
  { schema, stream, consumer, eventId }: LetterAddress,
): Promise<void> {
  await database.query(sql.type(nothing)`
    delete from ${sql.identifier([schema, "dead_letters"])}
    where consumer = ${consumer} and stream = ${stream} and event_id = ${eventId}
  `);
}

type Consumer = Pick<LetterAddress, "schema" | "stream" | "consumer">;

const claimedRow = z.object({
  id: z.string(),
  eventId: z.string(),
  type: z.string(),
  bodyBase64: z.string(),
  gzipped: z.boolean(),
});

/** A letter that is to be handled again. */
export type ClaimedLetter = z.output<typeof claimedRow>;

/**
 * Claims the letter that has waited longest to be handled again. Others may claim it after `leaseMs`.
 */
export async function claimRedrive(
  database: Queryable,
  { schema, stream, consumer }: Consumer,
  leaseMs: number,
): Promise<ClaimedLetter | null> {
  return database.maybeOne(sql.type(claimedRow)`
    update ${sql.identifier([schema, "dead_letters"])}
    set redrive_at = now() + interval '1 millisecond' * ${leaseMs}
    where id = (
      select id
      from ${sql.identifier([schema, "dead_letters"])}
      where redrive_at <= now() and consumer = ${consumer} and stream = ${stream}
      order by redrive_at
      limit 1
      for update skip locked
    )
    returning id, event_id as "eventId", type, gzipped, encode(body, 'base64') as "bodyBase64"
  `);
}

/** Notes that a letter has failed again. It stays until it is marked again. */
export async function returnLetter(
  database: Queryable,
  schema: string,
  { id, error }: { id: string; error: string },
): Promise<void> {
  await database.query(sql.type(nothing)`
    update ${sql.identifier([schema, "dead_letters"])}
    set redrive_at = null, attempts = attempts + 1, error = ${error}, last_failed_at = now()
    where id = ${id}
  `);
}

/**
 * Deletes letters and counts older than so many days, and the oldest beyond so many rows; `limit` at
 * most.
 */
export async function pruneLetters(
  database: Queryable,
  schema: string,
  keep: { days: number; rows: number; limit: number },
): Promise<number> {
  const { rowCount } = await database.query(sql.type(nothing)`
    delete from ${sql.identifier([schema, "dead_letters"])}
    where id in (
      (
        select id
        from ${sql.identifier([schema, "dead_letters"])}
        where last_failed_at < now() - interval '1 day' * ${keep.days}
        order by last_failed_at
        limit ${keep.limit}
      )
      union all
      (
        select id
        from ${sql.identifier([schema, "dead_letters"])}
        order by last_failed_at desc
        offset ${keep.rows}
        limit ${keep.limit}
      )
    )
  `);
  return rowCount;
}

const countRow = z.object({ count: z.number() });

/** How many dead letters a consumer has, counted up to `limit`. */
export async function countLetters(
  database: Queryable,
  { schema, stream, consumer }: Consumer,
  limit: number,
): Promise<number> {
  const { count } = await database.one(sql.type(countRow)`
    select count(*)::integer as count
    from (
      select
      from ${sql.identifier([schema, "dead_letters"])}
      where consumer = ${consumer} and stream = ${stream} and dead_at is not null
      limit ${limit}
    ) as letters
  `);
  return count;
}
