import { sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { z } from "zod";
import type { EndpointKey } from "./lanes.ts";

const nothing = z.object({});
const madeRow = z.object({
  endpointId: z.string(),
  companyId: z.string(),
  owner: z.string().nullable(),
});

/** A finished body, for all of an event's deliveries. */
export interface RenderedEvent {
  id: string;
  body: string;
}

/** A delivery to be made. */
export interface NewDelivery {
  id: string;
  eventId: string;
  endpointId: string;
  bodyBytes: number;
}

/** An endpoint with new deliveries. */
export interface FedLane extends EndpointKey {
  /** The process that serves it; null when none does. */
  owner: string | null;
}

/** Makes lanes for endpoints that have none. */
export async function insertLanes(
  queryable: Queryable,
  endpoints: readonly EndpointKey[],
): Promise<void> {
  await queryable.query(sql.prepared("lanes_insert", nothing)`
    insert into webhooks.lanes (endpoint_id, company_id)
    select endpoint.id, endpoint.company_id
    from webhooks.endpoints as endpoint
    where endpoint.id = any(${sql.array(
      endpoints.map(({ endpointId }) => endpointId),
      "text",
    )})
    order by endpoint.id
    on conflict (endpoint_id) do nothing
  `);
}

/**
 * Stores the bodies of events with their deliveries in one statement, and sets the due times of their
 * lanes. The lanes are locked first. So a process that releases a lane at the same time sees the new
 * deliveries, or this statement sees the release.
 *
 * @returns the lanes with new deliveries
 */
export async function insertDeliveries(
  queryable: Queryable,
  events: readonly RenderedEvent[],
  deliveries: readonly NewDelivery[],
  maxAttempts: number,
): Promise<readonly FedLane[]> {
  return queryable.any(sql.prepared("deliveries_insert", madeRow)`
    with ${givenCtes(events, deliveries)}, locked as materialized (
      select endpoint_id, company_id, case when leased_until > now() then owner end as owner
      from webhooks.lanes
      where endpoint_id in (select endpoint_id from fresh)
      order by endpoint_id
      for no key update
    ), fanned_out as (
      update webhooks.outbound_events as event
      set body = rendered.body, fanned_out_at = now(), due_at = null
      from rendered
      where event.id = rendered.id and event.due_at is not null
      returning event.id, event.type, event.workflow_id, event.run_id
    ), made as (
      insert into webhooks.deliveries (
        id, endpoint_id, company_id, event_id, event_type, workflow_id, run_id, max_attempts,
        next_attempt_at, body_bytes
      )
      select fresh.id, fresh.endpoint_id, locked.company_id, fresh.event_id, fanned_out.type,
        fanned_out.workflow_id, fanned_out.run_id, ${maxAttempts}, now(), fresh.body_bytes
      from fresh
      join fanned_out on fanned_out.id = fresh.event_id
      join locked on locked.endpoint_id = fresh.endpoint_id
      on conflict (id) do nothing
      returning endpoint_id
    ), due as (
      update webhooks.lanes as lane
      set due_at = least(coalesce(lane.due_at, now()), now())
      from locked, webhooks.endpoints as endpoint
      where lane.endpoint_id = locked.endpoint_id and locked.owner is null
        and endpoint.id = lane.endpoint_id and endpoint.status = 'active'
        and lane.endpoint_id in (select endpoint_id from made)
    )
    select locked.endpoint_id as "endpointId", locked.company_id as "companyId", locked.owner
    from locked
    where locked.endpoint_id in (select endpoint_id from made)
  `);
}

/** `fresh`: the deliveries to be made, and `rendered`: the bodies of their events. */
function givenCtes(
  events: readonly RenderedEvent[],
  deliveries: readonly NewDelivery[],
): SqlFragment {
  return sql.fragment`
    fresh as materialized (
      select id, event_id, endpoint_id, body_bytes
      from ${sql.unnest(
        deliveries.map(({ id, eventId, endpointId, bodyBytes }) => [
          id,
          eventId,
          endpointId,
          bodyBytes,
        ]),
        ["text", "text", "text", "int4"],
      )} as fresh (id, event_id, endpoint_id, body_bytes)
    ), rendered as materialized (
      select id, body
      from ${sql.unnest(
        events.map(({ id, body }) => [id, body]),
        ["text", "text"],
      )} as rendered (id, body)
    )
  `;
}
