import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { countEndpointsOf } from "./endpoint-counts.ts";

const nothing = z.object({});
const storedRow = z.object({ id: z.string() });
const claimedRow = z.object({
  /** Null in the one row that describes the claim itself. */
  id: z.string().nullable(),
  companyId: z.string().nullable(),
  envelope: z.string().nullable(),
  attempts: z.number().nullable(),
  lastCompanyId: z.string().nullable(),
});
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

/** How much older than its selection an event may be: two machines' clocks tell their moments. */
const CLOCKS_DIFFER = sql.fragment`interval '1 second'`;

/**
 * Selects the endpoints of an event: `event` and `endpoint` are the tables (contract, rule 1; D47). A late event is
 * also checked against what the endpoint wanted when it happened. An event that is about no workflow matches all
 * choices of workflows.
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
  /** How long only the caller may claim them, in milliseconds; 0: any process may. */
  leaseMs: number;
}

/**
 * Stores those of the events that any endpoint wants, that are not stored yet and that are not too old.
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

/** The limits of a claim. */
export interface EventClaim {
  /** How long nobody else claims them, in milliseconds. */
  leaseMs: number;
  /** Most endpoints of the claimed events together. The event that reaches the limit is the last one. */
  targetsMax: number;
  /** Companies whose events have to wait. */
  except: readonly string[];
  /** Visits companies after this id; null: from the first one. */
  companiesAfter: string | null;
}

/** An event whose deliveries are to be made now. */
export interface ClaimedEvent {
  id: string;
  companyId: string;
  /** JSON text. */
  envelope: string;
  /** How often making them has failed. */
  attempts: number;
}

/** The result of a claim. */
export interface EventsClaimed {
  events: readonly ClaimedEvent[];
  /** The company after which the next claim goes on; null: from the first one. */
  lastCompanyId: string | null;
}

const FIRST_COMPANY = "00000000-0000-0000-0000-000000000000";
/** Companies that one claim visits. */
const COMPANIES_MAX = 100;
/** Most events of one claim. */
const CLAIMED_EVENTS_MAX = 64;

/**
 * Claims events in turns: the oldest of each company, then the second of each, and so on (D57). It jumps from one
 * company to the next along the index, so the backlog of one costs the others nothing.
 */
export async function claimEvents(
  queryable: Queryable,
  { leaseMs, targetsMax, except, companiesAfter }: EventClaim,
): Promise<EventsClaimed> {
  const rows = await queryable.any(sql.prepared("outbound_events_claim", claimedRow)`
    with recursive company (company_id, number) as (
      (
        select company_id, 1 from webhooks.outbound_events
        where company_id > ${companiesAfter ?? FIRST_COMPANY} and due_at is not null
        order by company_id
        limit 1
      )
      union all
      select next.company_id, company.number + 1
      from company
      cross join lateral (
        select event.company_id from webhooks.outbound_events as event
        where event.company_id > company.company_id and event.due_at is not null
        order by event.company_id
        limit 1
      ) as next
      where company.number < ${COMPANIES_MAX}
    ), candidate as materialized (
      select company.company_id, due.id,
        row_number() over (order by due.turn, due.due_at, company.company_id) as place
      from company
      cross join lateral (
        select id, due_at, row_number() over (order by due_at, id) as turn
        from (
          select id, due_at from webhooks.outbound_events
          where company_id between company.company_id and company.company_id and due_at <= now()
          order by company_id, due_at, id
          limit ${CLAIMED_EVENTS_MAX}
        ) as oldest
      ) as due
      where company.company_id <> all(${sql.array([...except], "uuid")})
      order by place
      limit ${CLAIMED_EVENTS_MAX}
    ), size as materialized (
      select asked.company_id, counted.endpoints
      from (select distinct company_id from candidate) as asked
      cross join lateral (${countEndpointsOf(sql.fragment`asked.company_id`)}) as counted
    ), within_round as materialized (
      select candidate.id,
        sum(size.endpoints) over (order by candidate.place) - size.endpoints as earlier
      from candidate
      join size on size.company_id = candidate.company_id
    ), chosen as (
      select locked.id
      from within_round
      cross join lateral (
        select id from webhooks.outbound_events
        where id = within_round.id and due_at <= now()
        for update skip locked
      ) as locked
      where within_round.earlier < ${targetsMax}
    ), claimed as (
      update webhooks.outbound_events as event
      set due_at = now() + ${leaseMs} * interval '1 millisecond'
      from chosen
      where event.id = chosen.id
      returning event.id, event.company_id, event.envelope, event.attempts
    )
    select id, company_id as "companyId", envelope::text as envelope, attempts,
      null::uuid as "lastCompanyId"
    from claimed
    union all
    select null, null, null, null,
      (select company_id from company where number = ${COMPANIES_MAX})
  `);
  return {
    events: rows.flatMap(({ id, companyId, envelope, attempts }) =>
      id === null || companyId === null || envelope === null
        ? []
        : [{ id, companyId, envelope, attempts: attempts ?? 0 }],
    ),
    lastCompanyId: rows.find(({ id }) => id === null)?.lastCompanyId ?? null,
  };
}

/** An endpoint that gets an event. */
export type EventTarget = z.output<typeof targetRow>;

/** The endpoints that get each of the events: at most 1,000 each, as a company has no more. */
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
