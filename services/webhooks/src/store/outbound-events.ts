import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const storedRow = z.object({ id: z.string() });
const targetRow = z.object({
  eventId: z.string(),
  endpointId: z.string(),
  companyId: z.string(),
  hasLane: z.boolean(),
});
const backlogRow = z.object({ companyId: z.string(), isFull: z.boolean() });

/** An event that endpoints may want. */
export interface NewOutboundEvent {
  id: string;
  companyId: string;
  type: string;
  workflowId: string | null;
  runId: string | null;
  occurredAt: Date;
  /** The endpoint that the event is about, which does not get it. */
  endpointId: string | null;
  /** JSON text. */
  envelope: string;
}

/** The tolerated difference of two machines' clocks, between an event and its endpoint's selection. */
const CLOCKS_DIFFER = sql.fragment`interval '1 second'`;

/**
 * Selects the endpoints of an event: `event` and `endpoint` are the tables (contract, rule 1; D47). A
 * late event must also match the endpoint's choice at the time of the event. An event without a
 * workflow matches every choice of workflows.
 */
const IS_FOR = sql.fragment`
  endpoint.company_id = event.company_id
  and (endpoint.status = 'active' or endpoint.disabled_reason <> 'caller')
  and endpoint.hears_since <= event.occurred_at + ${CLOCKS_DIFFER}
  and (endpoint.events is null or event.type = any(endpoint.events))
  and coalesce(event.workflow_id = any(endpoint.workflow_ids), true)
  and (
    endpoint.selects_since <= event.occurred_at + ${CLOCKS_DIFFER}
    or (
      (endpoint.former_events is null or event.type = any(endpoint.former_events))
      and coalesce(event.workflow_id = any(endpoint.former_workflow_ids), true)
    )
  )
  and endpoint.id is distinct from event.endpoint_id
`;

/** The options of storing events. */
export interface EventStoring {
  /** Older events are not stored. */
  keptDays: number;
  /** The time for which only the caller may claim the events, in milliseconds; 0: any process may. */
  leaseMs: number;
}

/**
 * Stores the events that any endpoint wants, unless they are stored already or too old.
 *
 * @returns the ids of the new events
 */
export async function insertEventsForEndpoints(
  queryable: Queryable,
  events: readonly NewOutboundEvent[],
  { keptDays, leaseMs }: EventStoring,
): Promise<readonly string[]> {
  const rows = await queryable.any(sql.prepared("outbound_events_insert", storedRow)`
    insert into webhooks.outbound_events
      (id, company_id, type, workflow_id, run_id, occurred_at, endpoint_id, envelope, due_at)
    select event.id, event.company_id, event.type, event.workflow_id, event.run_id,
      event.occurred_at, event.endpoint_id, event.envelope::json,
      now() + ${leaseMs} * interval '1 millisecond'
    from ${sql.unnest(
      events.map((event) => [
        event.id,
        event.companyId,
        event.type,
        event.workflowId,
        event.runId,
        event.occurredAt.toISOString(),
        event.endpointId,
        event.envelope,
      ]),
      ["text", "uuid", "text", "text", "text", "timestamptz", "text", "text"],
    )} as event (id, company_id, type, workflow_id, run_id, occurred_at, endpoint_id, envelope)
    where event.occurred_at > now() - ${keptDays} * interval '1 day'
      and exists (select from webhooks.endpoints as endpoint where ${IS_FOR})
    on conflict (id) do nothing
    returning id
  `);
  return rows.map(({ id }) => id);
}

/** An endpoint that receives an event. */
export type EventTarget = z.output<typeof targetRow>;

/** The endpoints that receive each of the events: at most 1,000 each, because a company has no more. */
export async function listTargets(
  queryable: Queryable,
  eventIds: readonly string[],
): Promise<readonly EventTarget[]> {
  return queryable.any(sql.prepared("outbound_events_targets", targetRow)`
    select event.id as "eventId", endpoint.id as "endpointId",
      endpoint.company_id as "companyId", lane.endpoint_id is not null as "hasLane"
    from unnest(${sql.array([...eventIds], "text")}) as wanted (id)
    cross join lateral (
      select id, company_id, type, workflow_id, occurred_at, endpoint_id
      from webhooks.outbound_events
      where id = wanted.id
    ) as event
    join webhooks.endpoints as endpoint on ${IS_FOR}
    left join webhooks.lanes as lane on lane.endpoint_id = endpoint.id
    order by event.id, endpoint.id
  `);
}

/** Defers events whose deliveries could not be made. */
export async function deferEvents(
  queryable: Queryable,
  events: readonly { id: string; delayMs: number; failed: boolean; error: string | null }[],
): Promise<void> {
  await queryable.query(sql.prepared("outbound_events_defer", nothing)`
    update webhooks.outbound_events as event
    set due_at = now() + deferred.delay_ms * interval '1 millisecond',
      attempts = event.attempts + deferred.failed::integer,
      error = coalesce(deferred.error, event.error)
    from ${sql.unnest(
      events.map(({ id, delayMs, failed, error }) => [id, Math.round(delayMs), failed, error]),
      ["text", "int4", "bool", "text"],
    )} as deferred (id, delay_ms, failed, error)
    where event.id = deferred.id and event.due_at is not null
  `);
}

/** Gives an event up whose deliveries cannot be made. */
export async function failEvent(queryable: Queryable, id: string, error: string): Promise<void> {
  await queryable.query(sql.prepared("outbound_events_fail", nothing)`
    update webhooks.outbound_events
    set failed_at = now(), due_at = null, attempts = attempts + 1, error = ${error}
    where id = ${id} and due_at is not null
  `);
}

/** Those of the companies with at least so many waiting deliveries, over all of their endpoints. */
export async function listFullBacklogs(
  queryable: Queryable,
  companyIds: readonly string[],
  pendingMax: number,
): Promise<readonly string[]> {
  const rows = await queryable.any(sql.prepared("deliveries_backlog", backlogRow)`
    select company.id as "companyId", (
      select count(*) from (
        select from webhooks.endpoints as endpoint
        join webhooks.deliveries as delivery
          on delivery.endpoint_id = endpoint.id and delivery.status = 'pending'
        where endpoint.company_id = company.id
        limit ${pendingMax}
      ) as pending
    ) >= ${pendingMax} as "isFull"
    from unnest(${sql.array([...companyIds], "uuid")}) as company (id)
  `);
  return rows.flatMap(({ companyId, isFull }) => (isFull ? [companyId] : []));
}
