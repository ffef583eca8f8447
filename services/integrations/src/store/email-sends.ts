import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

/** Identifies a message. */
export interface EmailKey {
  companyId: string;
  idempotencyKey: string;
}

const claimedRow = z.object({ createdAt: z.date() });
const sendRow = z.object({
  state: z.enum(["sending", "open", "sent", "refused"]),
  rejectedPositions: z.array(z.number()),
  replyCode: z.number().nullable(),
  replyStatus: z.string().nullable(),
  /** Null also for messages from before the column existed. */
  messageId: z.string().nullable(),
});
const nothing = z.object({});

/** The stored state of a message. */
export type SendRow = z.infer<typeof sendRow>;

/** The outcome of a message, as `settleSend` stores it. */
export type SendEnd =
  | { state: "open" }
  | { state: "sent"; rejectedPositions: readonly number[]; messageId: string }
  | { state: "refused"; replyCode: number; replyStatus: string | null };

/** Far longer than the retries of a step; keys are deleted afterwards. */
const RETENTION = sql.fragment`interval '7 days'`;

/**
 * Claims a message for `leaseMs` while no other process holds the claim and no outcome is stored.
 *
 * @returns when the message was first requested; null when it cannot be claimed
 */
export async function claimSend(
  database: Queryable,
  { companyId, idempotencyKey }: EmailKey,
  claim: string,
  leaseMs: number,
): Promise<Date | null> {
  const row = await database.maybeOne(sql.prepared("email_claim", claimedRow)`
    insert into integrations.email_sends as send (
      company_id, idempotency_key, state, claim, claimed_until
    )
    values (
      ${companyId}, ${idempotencyKey}, 'sending', ${claim},
      clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    )
    on conflict (company_id, idempotency_key) do update
    set state = 'sending', claim = excluded.claim, claimed_until = excluded.claimed_until
    where send.state = 'open'
      or (send.state = 'sending'
        and (send.claimed_until < clock_timestamp() or send.claim = excluded.claim))
    returning send.created_at as "createdAt"
  `);
  return row?.createdAt ?? null;
}

/** Extends the claim for `leaseMs` from now; false when it was lost. */
export async function renewClaim(
  database: Queryable,
  { companyId, idempotencyKey }: EmailKey,
  claim: string,
  leaseMs: number,
): Promise<boolean> {
  const { rowCount } = await database.query(sql.prepared("email_renew", nothing)`
    update integrations.email_sends
    set claimed_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    where company_id = ${companyId} and idempotency_key = ${idempotencyKey}
      and claim = ${claim} and state = 'sending'
  `);
  return rowCount > 0;
}

/** Stores the outcome of a message; false when the claim was lost. */
export async function settleSend(
  database: Queryable,
  { companyId, idempotencyKey }: EmailKey,
  claim: string,
  end: SendEnd,
): Promise<boolean> {
  const positions = end.state === "sent" ? end.rejectedPositions : [];
  const messageId = end.state === "sent" ? end.messageId : null;
  const code = end.state === "refused" ? end.replyCode : null;
  const status = end.state === "refused" ? end.replyStatus : null;
  const { rowCount } = await database.query(sql.prepared("email_settle", nothing)`
    update integrations.email_sends
    set state = ${end.state}, rejected_positions = ${sql.array(positions, "int2")},
      reply_code = ${code}, reply_status = ${status}, provider_message_id = ${messageId}
    where company_id = ${companyId} and idempotency_key = ${idempotencyKey}
      and claim = ${claim} and state = 'sending'
  `);
  return rowCount > 0;
}

/** The stored state of a message; null when it was never requested. */
export async function findSend(
  database: Queryable,
  { companyId, idempotencyKey }: EmailKey,
): Promise<SendRow | null> {
  return database.maybeOne(sql.prepared("email_find", sendRow)`
    select state, rejected_positions as "rejectedPositions", reply_code as "replyCode",
      reply_status as "replyStatus", provider_message_id as "messageId"
    from integrations.email_sends
    where company_id = ${companyId} and idempotency_key = ${idempotencyKey}
  `);
}

/**
 * Deletes up to `limit` messages that are older than the retention.
 *
 * @returns the number of deleted messages
 */
export async function deleteOldSends(database: Queryable, limit: number): Promise<number> {
  const { rowCount } = await database.query(sql.prepared("email_purge", nothing)`
    delete from integrations.email_sends
    where (company_id, idempotency_key) in (
      select company_id, idempotency_key
      from integrations.email_sends
      where created_at < now() - ${RETENTION}
      order by created_at
      limit ${limit}
    )
  `);
  return rowCount;
}
