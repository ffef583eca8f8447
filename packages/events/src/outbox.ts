import type { Queryable } from "@workflow/db";
import { newId, sql } from "@workflow/db";
import { z } from "zod";
import type { EventEnvelope, NewEvent } from "./envelope.ts";
import { EVENT_ID_PREFIX, eventTypeSchema } from "./envelope.ts";

/** The Postgres schema of the table `outbox`. It is a name written in code, never input. */
export type OutboxSchema = string;

/**
 * Writes events into the outbox, in the order given and in one statement. Call it in the transaction
 * that makes the changes, and wake the stream's relay after the commit.
 *
 * @param stream the stream that they go to; a service's own stream has the name of its schema
 * @returns the ids of the events, in the same order
 */
export async function insertEvents(
  tx: Queryable,
  schema: OutboxSchema,
  events: readonly NewEvent[],
  stream: string = schema,
): Promise<string[]> {
  if (events.length === 0) return [];
  const rows = events.map(toOutboxRow);
  const ids = rows.map(({ id }) => id);
  const types = rows.map(({ type }) => type);
  const companyIds = rows.map(({ companyId }) => companyId);
  const payloads = rows.map(({ payload }) => payload);
  await tx.query(sql.prepared(`outbox_insert_${schema}`, z.object({}))`
    insert into ${sql.identifier([schema, "outbox"])} (stream, id, type, company_id, payload)
    select ${stream}, id, type, company_id, payload
    from unnest(
      ${sql.array(ids, "text")},
      ${sql.array(types, "text")},
      ${sql.array(companyIds, "uuid")},
      ${sql.array(payloads, "json")}
    ) with ordinality as event (id, type, company_id, payload, position)
    order by position
  `);
  return ids;
}

/**
 * One row of the outbox, for a service that writes it with a statement of its own. The table's default
 * puts it on the service's own stream.
 */
export interface OutboxRow {
  id: string;
  type: string;
  companyId: string;
  /** The whole envelope as JSON text. */
  payload: string;
}

/** The row that `insertEvents` would write. */
export function toOutboxRow(event: NewEvent): OutboxRow {
  const envelope = toEnvelope(event);
  const { id, type, companyId } = envelope;
  return { id, type, companyId, payload: JSON.stringify(envelope) };
}

function toEnvelope(event: NewEvent): Omit<EventEnvelope, "data"> & { data: object } {
  return {
    id: event.id ?? newId(EVENT_ID_PREFIX),
    type: eventTypeSchema.parse(event.type),
    timestamp: (event.timestamp ?? new Date()).toISOString(),
    companyId: event.companyId,
    ...(event.requestId === undefined ? {} : { requestId: event.requestId }),
    ...(event.traceparent === undefined ? {} : { traceparent: event.traceparent }),
    data: event.data,
  };
}
