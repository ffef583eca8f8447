import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import type { SignatureVerified } from "../domain/inbound-message.ts";

const idRow = z.object({ id: z.string() });

/** An event to be inserted. */
export interface NewInboundEvent {
  id: string;
  /** Null while its company is not known. */
  companyId: string | null;
  provider: string;
  accountIds: readonly string[];
  path: string | null;
  eventType: string | null;
  externalEventId: string | null;
  /** JSON text. */
  payloadJson: string;
  payloadBytes: number;
  /** JSON text. */
  triggerJson: string;
  signature: SignatureVerified;
  /** `failed` only when it was refused. */
  status: "received" | "processing" | "failed" | "ignored";
  error: string | null;
  requestId: string;
}

/** The company of keys that hold for all companies. */
export const ALL_COMPANIES = "00000000-0000-0000-0000-000000000000";

/** The key by which repeats of a message are recognized. On the custom route it holds within the company. */
export interface MessageKey {
  provider: string;
  /** `ALL_COMPANIES` when it holds for all. */
  companyId: string;
  key: string;
}

/** The events of one message: all of them are stored or none. */
export interface NewMessage {
  /** Null when repeats cannot be recognized. */
  key: MessageKey | null;
  /** The events, at least one. */
  events: readonly [NewInboundEvent, ...NewInboundEvent[]];
}

/** The pause until the companies of an event are looked up again. */
const OWNERS_WAIT = sql.fragment`interval '2 seconds'`;

/**
 * Inserts messages whose keys nobody has claimed, and returns the ids of their events. A claim ends
 * when none of its events had a receiver, so that a later message may start the runs. A second caller
 * with a key waits here for the first one's statement. All callers claim in one order.
 *
 * @param leaseSeconds the time for which nobody else handles the events in progress
 */
export async function insertMessages(
  queryable: Queryable,
  messages: readonly NewMessage[],
  leaseSeconds: number,
): Promise<Set<string>> {
  const documents = messages.flatMap(toDocuments);
  const rows = await queryable.any(sql.prepared("inbound_insert", idRow)`
    with incoming as (
      select event.*
      from json_to_recordset(${`[${documents.join(",")}]`}::json) as event (
        id text, first_id text, company_id uuid, provider text, account_ids text[], path text,
        event_type text, external_event_id text, payload json, payload_bytes integer,
        trigger_data json, signature_verified text, status text, error text, request_id text,
        key_company_id uuid, key text, event_ids text[]
      )
    ), claimed as (
      insert into webhooks.inbound_event_keys as taken (provider, company_id, key, event_ids)
      select distinct on (provider collate "C", key_company_id, key collate "C")
        provider, key_company_id, key, event_ids
      from incoming
      where event_ids is not null
      order by provider collate "C", key_company_id, key collate "C"
      on conflict on constraint inbound_event_keys_pkey do update
        set event_ids = excluded.event_ids, created_at = excluded.created_at
        -- Events that this statement cannot see yet count as not ignored.
        where cardinality(taken.event_ids) = (
          select count(*) from webhooks.inbound_events as event
          where event.id = any(taken.event_ids) and event.status = 'ignored'
        )
      returning taken.event_ids[1] as first_id
    )
    insert into webhooks.inbound_events (
      id, company_id, provider, account_ids, path, event_type, external_event_id, message_key,
      payload, payload_bytes, trigger_data, signature_verified, status, is_refused,
      error, request_id, attempts, due_at
    )
    select id, company_id, provider, account_ids, path, event_type, external_event_id, key,
      -- A null that was sent is no missing payload.
      coalesce(payload, 'null'::json), payload_bytes, trigger_data, signature_verified, status,
      status = 'failed', error, request_id,
      case when status = 'processing' then 1 else 0 end,
      case status
        when 'processing' then now() + make_interval(secs => ${leaseSeconds})
        when 'received' then now() + ${OWNERS_WAIT}
      end
    from incoming
    where key is null or first_id in (select first_id from claimed)
    returning id
  `);
  return new Set(rows.map(({ id }) => id));
}

/** Documents are passed as texts, so that payloads are stored as they were sent. */
function toDocuments({ key, events }: NewMessage): string[] {
  const [first] = events;
  return events.map((event) => {
    const fields = JSON.stringify({
      id: event.id,
      first_id: first.id,
      company_id: event.companyId,
      provider: event.provider,
      account_ids: event.accountIds,
      path: event.path,
      event_type: event.eventType,
      external_event_id: event.externalEventId,
      payload_bytes: event.payloadBytes,
      signature_verified: event.signature,
      status: event.status,
      error: event.error,
      request_id: event.requestId,
      ...(key === null ? {} : { key: key.key, key_company_id: key.companyId }),
      ...(key === null || event !== first ? {} : { event_ids: events.map(({ id }) => id) }),
    });
    return `${fields.slice(0, -1)},"payload":${event.payloadJson},"trigger_data":${event.triggerJson}}`;
  });
}
