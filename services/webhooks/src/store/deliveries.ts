import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const waitingRow = z.object({
  endpointId: z.string(),
  id: z.string(),
  eventId: z.string(),
  bodyBytes: z.number(),
  attemptCount: z.number(),
  maxAttempts: z.number(),
  /** Milliseconds until it is due; 0 or less when it is. */
  dueInMs: z.number(),
});
const bodyRow = z.object({
  id: z.string(),
  body: z.string().nullable(),
  traceparent: z.string().nullable(),
});
const writtenRow = z.object({ id: z.string() });

/** A delivery that waits for an attempt. */
export type WaitingDelivery = z.output<typeof waitingRow>;

/** The lane whose deliveries are read. */
export interface LaneReading {
  endpointId: string;
  /** Deliveries that are known already. */
  except: readonly string[];
  /** Most deliveries to return. */
  limit: number;
}

/**
 * The next due deliveries of several lanes, in the order of their times. The last ones of a lane may not be due
 * yet: they tell when the lane has work.
 */
export async function listWaiting(
  queryable: Queryable,
  lanes: readonly LaneReading[],
): Promise<readonly WaitingDelivery[]> {
  return queryable.any(sql.prepared("deliveries_waiting", waitingRow)`
    select lane.endpoint_id as "endpointId", delivery.id, delivery.event_id as "eventId",
      delivery.body_bytes as "bodyBytes", delivery.attempt_count as "attemptCount",
      delivery.max_attempts as "maxAttempts",
      (extract(epoch from delivery.next_attempt_at - now()) * 1000)::float8 as "dueInMs"
    from ${sql.unnest(
      lanes.map(({ endpointId, except, limit }) => [endpointId, except.join(" "), limit]),
      ["text", "text", "int4"],
    )} as lane (endpoint_id, known, amount)
    cross join lateral (
      select waiting.id, waiting.event_id, waiting.body_bytes, waiting.attempt_count,
        waiting.max_attempts, waiting.next_attempt_at
      from webhooks.deliveries as waiting
      where waiting.endpoint_id = lane.endpoint_id and waiting.status = 'pending'
        and waiting.id <> all(string_to_array(lane.known, ' '))
      order by waiting.next_attempt_at, waiting.id
      limit lane.amount
    ) as delivery
  `);
}

/** The body of an event. */
export interface StoredBody {
  body: string;
  /** W3C trace context of the event; null when its trace is not recorded. */
  traceparent: string | null;
}

/** The bodies of events by id. Bodies that do not exist yet, or are no longer kept, are missing. */
export async function readBodies(
  queryable: Queryable,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, StoredBody>> {
  const rows = await queryable.any(sql.prepared("outbound_events_bodies", bodyRow)`
    select event.id, event.body, event.envelope ->> 'traceparent' as traceparent
    from unnest(${sql.array([...eventIds], "text")}) as wanted (id)
    cross join lateral (
      select id, body, envelope from webhooks.outbound_events where id = wanted.id
    ) as event
  `);
  return new Map(
    rows.flatMap(({ id, body, traceparent }) =>
      body === null ? [] : [[id, { body, traceparent }]],
    ),
  );
}

/** The result of an attempt of a delivery. */
export interface DeliveryResult {
  deliveryId: string;
  endpointId: string;
  /** The epoch of the lease under which the attempt was made. */
  epoch: number;
  /** Attempts before it. A result that was written already is not written again. */
  attemptCount: number;
  isSuccess: boolean;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
  /** The pause until the next attempt, when this one failed and there may be another. */
  delayMs: number;
  /** The attempt without its number: members of a JSON object, without the braces. */
  attemptMembers: string;
}

/**
 * Writes the results of attempts, each of a different delivery. Nothing is written under a lease that another
 * process has taken over, nor for a delivery that no longer waits.
 *
 * @returns the deliveries that were written
 */
export async function writeResults(
  queryable: Queryable,
  results: readonly DeliveryResult[],
): Promise<ReadonlySet<string>> {
  const ids = results.map(({ deliveryId }) => deliveryId);
  const leastId = ids.reduce((least, id) => (id < least ? id : least), ids[0] ?? "");
  const greatestId = ids.reduce((greatest, id) => (id > greatest ? id : greatest), "");
  const rows = await queryable.any(sql.prepared("deliveries_results", writtenRow)`
    update webhooks.deliveries as delivery
    set attempt_count = delivery.attempt_count + 1,
      status = case
        when result.is_success then 'succeeded'
        when delivery.attempt_count + 1 >= delivery.max_attempts then 'failed'
        else 'pending'
      end,
      next_attempt_at = case
        when not result.is_success and delivery.attempt_count + 1 < delivery.max_attempts
          then now() + result.delay_ms * interval '1 millisecond'
      end,
      delivered_at = case when result.is_success then now() end,
      last_status_code = result.status_code,
      last_error = result.error,
      duration_ms = result.duration_ms,
      attempts = webhooks.with_attempt(
        delivery.attempts,
        '{"number":' || delivery.attempt_count + 1 || ',' || result.members || '}'
      )
    from ${sql.unnest(
      results.map((result) => [
        result.deliveryId,
        result.endpointId,
        result.epoch,
        result.attemptCount,
        result.isSuccess,
        result.statusCode,
        result.error,
        result.durationMs,
        Math.round(result.delayMs),
        result.attemptMembers,
      ]),
      ["text", "text", "int8", "int4", "bool", "int4", "text", "int4", "int4", "text"],
    )} as result (
      delivery_id, endpoint_id, epoch, attempt_count, is_success, status_code, error, duration_ms, delay_ms, members
    )
    join webhooks.lanes as lane
      on lane.endpoint_id = result.endpoint_id and lane.epoch = result.epoch
    where delivery.id = result.delivery_id
      and delivery.id between ${leastId} and ${greatestId}
      and delivery.endpoint_id = result.endpoint_id and delivery.status = 'pending'
      and delivery.attempt_count = result.attempt_count
    returning delivery.id
  `);
  return new Set(rows.map(({ id }) => id));
}
