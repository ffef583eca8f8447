import type { Queryable } from "@workflow/db";
import { sql } from "@workflow/db";
import { z } from "zod";

const letterRow = z.object({
  id: z.string(),
  stream: z.string(),
  consumer: z.string(),
  eventId: z.string(),
  type: z.string(),
  companyId: z.string().nullable(),
  attempts: z.number(),
  error: z.string(),
  firstFailedAt: z.date(),
  lastFailedAt: z.date(),
  bodyBytes: z.number(),
  /** Without its body a letter cannot be handled again. */
  hasBody: z.boolean(),
  /** Whether it is to be handled again and has not been yet. */
  isWaiting: z.boolean(),
});

/** A dead letter as an operator sees it. */
export type DeadLetter = z.output<typeof letterRow>;

/** The dead letters of a service's schema, those that failed last first. */
export async function listDeadLetters(
  database: Queryable,
  schema: string,
  limit: number,
): Promise<readonly DeadLetter[]> {
  return database.any(sql.type(letterRow)`
    select id, stream, consumer, event_id as "eventId", type, company_id as "companyId", attempts,
      error, first_failed_at as "firstFailedAt", last_failed_at as "lastFailedAt",
      body_bytes as "bodyBytes", body is not null as "hasBody", redrive_at is not null as "isWaiting"
    from ${sql.identifier([schema, "dead_letters"])}
    where dead_at is not null
    order by last_failed_at desc, id
    limit ${limit}
  `);
}

const changedRow = z.object({
  id: z.string(),
  eventId: z.string(),
  companyId: z.string().nullable(),
  type: z.string(),
  consumer: z.string(),
});

/** A dead letter that was changed. */
export type ChangedLetter = z.output<typeof changedRow>;

/**
 * Marks letters to be handled again by their consumer: one, or the oldest up to a limit. Those without
 * a body are left as they are.
 */
export async function redriveDeadLetters(
  database: Queryable,
  schema: string,
  which: { id: string } | { limit: number },
): Promise<readonly ChangedLetter[]> {
  const chosen =
    "id" in which
      ? sql.fragment`select ${which.id}::uuid`
      : sql.fragment`
          select id
          from ${sql.identifier([schema, "dead_letters"])}
          where dead_at is not null and body is not null and redrive_at is null
          order by last_failed_at
          limit ${which.limit}
        `;
  return database.any(sql.type(changedRow)`
    update ${sql.identifier([schema, "dead_letters"])}
    set redrive_at = now()
    where id in (${chosen}) and dead_at is not null and body is not null
    returning id, event_id as "eventId", company_id as "companyId", type, consumer
  `);
}

/** Deletes a dead letter; null when there is none with this id. */
export async function deleteDeadLetter(
  database: Queryable,
  schema: string,
  id: string,
): Promise<ChangedLetter | null> {
  return database.maybeOne(sql.type(changedRow)`
    delete from ${sql.identifier([schema, "dead_letters"])}
    where id = ${id} and dead_at is not null
    returning id, event_id as "eventId", company_id as "companyId", type, consumer
  `);
}
