import { firstIdAt, sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { EVENT_ID_PREFIX } from "@workflow/events";
import { z } from "zod";
import { ALL_COMPANIES } from "./insert-inbound-events.ts";

const started = z.array(z.object({ workflowId: z.string(), runId: z.string() }));
const listedRow = z.object({
  id: z.string(),
  provider: z.string(),
  eventType: z.string().nullable(),
  externalEventId: z.string().nullable(),
  payloadBytes: z.number(),
  signature: z.enum(["pending", "verified", "failed", "skipped"]),
  status: z.enum(["received", "processing", "processed", "failed", "ignored"]),
  started,
  error: z.string().nullable(),
  replayedFrom: z.string().nullable(),
  createdAt: z.date(),
});
const wholeRow = listedRow.extend({ payloadJson: z.string().nullable() });

/** An event as lists show it. */
export type ListedEvent = z.infer<typeof listedRow>;
/** An event with its payload, as JSON text; null when that is not kept. */
export type WholeEvent = z.infer<typeof wholeRow>;

/** Identifies an event of a company. */
export interface InboundEventKey {
  companyId: string;
  eventId: string;
}

/** Selects events; null members do not count. */
export interface EventFilter {
  provider: string | null;
  status: string | null;
  eventType: string | null;
  signature: string | null;
  createdAfter: Date | null;
  createdBefore: Date | null;
}

/** The most by which an event's id may differ from the time of its row, since their clocks differ. */
const CLOCKS_DIFFER_MS = 10 * 60 * 1000;

const LISTED = sql.fragment`
  id, provider, event_type as "eventType", external_event_id as "externalEventId",
  payload_bytes as "payloadBytes", signature_verified as "signature", status, started, error,
  replayed_from as "replayedFrom", created_at as "createdAt"
`;

/** A page of the company's events, newest first, after the event with the id `after`. */
export async function listEvents(
  queryable: Queryable,
  page: { companyId: string; limit: number; after: string | null; filter: EventFilter },
): Promise<{ events: readonly ListedEvent[]; hasMore: boolean }> {
  const { companyId, limit, after, filter } = page;
  const conditions = [
    sql.fragment`company_id = ${companyId}`,
    ...(after === null ? [] : [sql.fragment`id < ${after}`]),
    ...conditionsOf(filter),
  ];
  const rows = await queryable.any(sql.type(listedRow)`
    select ${LISTED}
    from webhooks.inbound_events
    where ${sql.join(conditions, sql.fragment` and `)}
    order by id desc
    limit ${limit + 1}
  `);
  return { events: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** An event of the company; null when there is none (any more). */
export async function findEvent(
  queryable: Queryable,
  { companyId, eventId }: InboundEventKey,
): Promise<WholeEvent | null> {
  return queryable.maybeOne(sql.type(wholeRow)`
    select ${LISTED}, payload::text as "payloadJson"
    from webhooks.inbound_events
    where id = ${eventId} and company_id = ${companyId}
  `);
}

/**
 * Stores a new event, due at once, as a copy of an old one. The old event must have ended, not been
 * refused, and still have its payload; otherwise null. When the old event had no receiver, the new one
 * takes over its claim, so that a repeat does not start the runs again.
 */
export async function insertReplay(
  queryable: Queryable,
  { companyId, eventId }: InboundEventKey,
  replay: { id: string; requestId: string },
): Promise<WholeEvent | null> {
  return queryable.maybeOne(sql.type(wholeRow)`
    with original as (
      select id, company_id, provider, account_ids, path, event_type, external_event_id, message_key,
        payload, payload_bytes, trigger_data, signature_verified, status
      from webhooks.inbound_events
      where id = ${eventId} and company_id = ${companyId} and due_at is null
        and payload is not null and not is_refused
    ), claim as (
      update webhooks.inbound_event_keys as taken
      set event_ids = array_replace(taken.event_ids, original.id, ${replay.id})
      from original
      where original.status = 'ignored' and taken.provider = original.provider
        and taken.company_id in (original.company_id, ${ALL_COMPANIES}::uuid)
        and taken.key = original.message_key and original.id = any(taken.event_ids)
    )
    insert into webhooks.inbound_events (
      id, company_id, provider, account_ids, path, event_type, external_event_id, message_key,
      payload, payload_bytes, trigger_data, signature_verified, status, due_at, replayed_from, request_id
    )
    select ${replay.id}, company_id, provider, account_ids, path, event_type, external_event_id,
      message_key, payload, payload_bytes, trigger_data, signature_verified, 'received', now(), id,
      ${replay.requestId}
    from original
    returning ${LISTED}, payload::text as "payloadJson"
  `);
}

function conditionsOf(filter: EventFilter): SqlFragment[] {
  const { provider, status, eventType, signature, createdAfter, createdBefore } = filter;
  const conditions: SqlFragment[] = [];
  if (provider !== null) conditions.push(sql.fragment`provider = ${provider}`);
  if (status !== null) conditions.push(sql.fragment`status = ${status}`);
  if (eventType !== null) conditions.push(sql.fragment`event_type = ${eventType}`);
  if (signature !== null) conditions.push(sql.fragment`signature_verified = ${signature}`);
  if (createdAfter !== null) {
    // The bound on the id excludes whole partitions.
    const leastId = firstIdAt(EVENT_ID_PREFIX, new Date(createdAfter.getTime() - CLOCKS_DIFFER_MS));
    conditions.push(
      sql.fragment`id >= ${leastId} and created_at >= ${createdAfter.toISOString()}::timestamptz`,
    );
  }
  if (createdBefore !== null) {
    conditions.push(sql.fragment`created_at < ${createdBefore.toISOString()}::timestamptz`);
  }
  return conditions;
}
