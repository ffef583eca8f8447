import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import type { EmailKey } from "./email-sends.ts";

const nothing = z.object({});
const countedRow = z.object({ createdAt: z.date().nullable(), resetsAt: z.date() });

/** The current UTC day by the database's clock, so that all replicas change over at the same moment. */
const TODAY = sql.fragment`(now() at time zone 'UTC')::date`;

/** A new message, and the lease of its first claim. */
export interface NewSend extends EmailKey {
  claim: string;
  leaseMs: number;
  recipients: number;
}

/**
 * Counts a new message's recipients to its company's day and claims the message, in one statement:
 * both, or neither when the day would exceed its limit. Of concurrent messages exactly those that fit
 * are counted.
 *
 * @returns `createdAt` null when the message does not fit; the end of the day's count in any case
 * @throws a unique violation of `email_sends_pkey` when the message is not new
 */
export async function insertCountedSend(
  database: Queryable,
  { companyId, idempotencyKey, claim, leaseMs, recipients }: NewSend,
  limit: number,
): Promise<z.infer<typeof countedRow>> {
  return database.one(sql.prepared("email_insert_counted", countedRow)`
    with counted as (
      insert into integrations.email_usage as usage (company_id, day, recipients)
      select ${companyId}::uuid, ${TODAY}, ${recipients}::integer
      where ${recipients}::integer <= ${limit}::integer
      on conflict (company_id, day) do update
      set recipients = usage.recipients + excluded.recipients
      where usage.recipients + excluded.recipients <= ${limit}::integer
      returning usage.company_id
    ), claimed as (
      insert into integrations.email_sends (
        company_id, idempotency_key, state, claim, claimed_until
      )
      select company_id, ${idempotencyKey}, 'sending', ${claim}::uuid,
        clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'
      from counted
      returning created_at
    )
    select (select created_at from claimed) as "createdAt",
      (${TODAY} + 1)::timestamp at time zone 'UTC' as "resetsAt"
  `);
}

/**
 * Deletes up to `limit` days that are long past.
 *
 * @returns the number of deleted days
 */
export async function deleteOldUsage(database: Queryable, limit: number): Promise<number> {
  const { rowCount } = await database.query(sql.prepared("email_usage_purge", nothing)`
    delete from integrations.email_usage
    where (company_id, day) in (
      select company_id, day
      from integrations.email_usage
      where day < ${TODAY} - 7
      limit ${limit}
    )
  `);
  return rowCount;
}
