import { firstIdAt, sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { DELIVERY_ID_PREFIX } from "../domain/endpoint.ts";
import type { EndpointKey } from "./lanes.ts";

export const DELIVERY_STATUSES = ["pending", "succeeded", "failed"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const deliveryRow = z.object({
  id: z.string(),
  endpointId: z.string(),
  eventId: z.string(),
  eventType: z.string(),
  workflowId: z.string().nullable(),
  runId: z.string().nullable(),
  isTest: z.boolean(),
  status: z.enum(DELIVERY_STATUSES),
  attemptCount: z.number(),
  maxAttempts: z.number(),
  nextAttemptAt: z.date().nullable(),
  lastStatusCode: z.number().nullable(),
  lastError: z.string().nullable(),
  durationMs: z.number().nullable(),
  createdAt: z.date(),
  deliveredAt: z.date().nullable(),
});
const attemptsText = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(
    z.array(
      z.object({
        number: z.number(),
        at: z.string(),
        url: z.string(),
        statusCode: z.number().nullable(),
        durationMs: z.number(),
        error: z.string().nullable(),
        responseBody: z.string().nullable(),
      }),
    ),
  );
const wholeRow = deliveryRow.extend({ attempts: attemptsText, body: z.string().nullable() });
const listedRow = deliveryRow.extend({ isEnd: z.boolean() });
const idRow = z.object({ id: z.string() });

/** A delivery without its large parts. */
export type DeliveryRow = z.output<typeof deliveryRow>;
/** A delivery with its attempts and its body. */
export type WholeDelivery = z.output<typeof wholeRow>;

/** The columns of the table aliased `delivery`. While its endpoint is disabled no attempt is due. */
const deliveryColumns = sql.fragment`
  delivery.id,
  delivery.endpoint_id as "endpointId",
  delivery.event_id as "eventId",
  delivery.event_type as "eventType",
  delivery.workflow_id as "workflowId",
  delivery.run_id as "runId",
  delivery.is_test as "isTest",
  delivery.status,
  delivery.attempt_count as "attemptCount",
  delivery.max_attempts as "maxAttempts",
  delivery.next_attempt_at as "nextAttemptAt",
  delivery.last_status_code as "lastStatusCode",
  delivery.last_error as "lastError",
  delivery.duration_ms as "durationMs",
  delivery.created_at as "createdAt",
  delivery.delivered_at as "deliveredAt"
`;

/** Identifies a delivery of an endpoint. */
export interface DeliveryKey extends EndpointKey {
  deliveryId: string;
}

/** A delivery of the endpoint with everything that is kept; null when there is none. */
export async function findDelivery(
  queryable: Queryable,
  { companyId, endpointId, deliveryId }: DeliveryKey,
): Promise<WholeDelivery | null> {
  return queryable.maybeOne(sql.prepared("endpoint_delivery_find", wholeRow)`
    select ${deliveryColumns}, delivery.attempts::text as attempts, event.body
    from webhooks.deliveries as delivery
    left join webhooks.outbound_events as event
      on event.id = delivery.event_id and event.company_id = delivery.company_id
    where delivery.id = ${deliveryId}
      and delivery.endpoint_id = ${endpointId}
      and delivery.company_id = ${companyId}
  `);
}

/** Selects deliveries of an endpoint, and the page. */
export interface DeliveryFilter extends EndpointKey {
  /** Null: any status. */
  status: DeliveryStatus | null;
  /** Null: any type. */
  eventType: string | null;
  limit: number;
  /** The last delivery that was scanned for the page before; null: from the beginning. */
  afterId: string | null;
}

/** A page of deliveries. */
export interface DeliveryPage {
  rows: readonly DeliveryRow[];
  /** The position after which the next page begins; null at the end. */
  lastId: string | null;
}

/** The deliveries that are scanned for a page whose filter no index serves, in some ten milliseconds. */
const SCANNED_MAX = 5_000;

/**
 * A page, newest first. With a filter a page may be short or empty although more deliveries follow: the
 * scan for one page is limited, however rare the wanted deliveries are.
 */
export async function listDeliveries(
  queryable: Queryable,
  { companyId, endpointId, status, eventType, limit, afterId }: DeliveryFilter,
): Promise<DeliveryPage> {
  // Failed ones have an index of their own.
  const byIndex =
    status === "failed" ? sql.fragment`delivery.status = 'failed'` : sql.fragment`true`;
  const isWanted = sql.fragment`
    ${status === null ? sql.fragment`true` : sql.fragment`delivery.status = ${status}`}
    and ${eventType === null ? sql.fragment`true` : sql.fragment`delivery.event_type = ${eventType}`}
  `;
  const isFiltered = eventType !== null || (status !== null && status !== "failed");
  const scannedMax = isFiltered ? SCANNED_MAX : limit + 1;
  const rows = await queryable.any(sql.type(listedRow)`
    with looked_at as materialized (
      select delivery.id, (${isWanted}) as is_wanted,
        row_number() over (order by delivery.id desc) as place
      from webhooks.deliveries as delivery
      where delivery.endpoint_id = ${endpointId}
        and delivery.company_id = ${companyId}
        and ${byIndex}
        and ${afterId === null ? sql.fragment`true` : sql.fragment`delivery.id < ${afterId}`}
      order by delivery.id desc
      limit ${scannedMax}
    ), wanted as (
      select id from looked_at where is_wanted order by id desc limit ${limit + 1}
    ), shown as (
      select id, false as is_end from wanted
      union all
      select id, true from looked_at where place = ${scannedMax}
    )
    select ${deliveryColumns}, shown.is_end as "isEnd"
    from shown
    join webhooks.deliveries as delivery on delivery.id = shown.id
    order by delivery.id desc
  `);
  return toPage(rows, limit);
}

function toPage(rows: readonly z.output<typeof listedRow>[], limit: number): DeliveryPage {
  const wanted = rows.filter(({ isEnd }) => !isEnd);
  const page = wanted.slice(0, limit);
  if (wanted.length > limit) return { rows: page, lastId: page.at(-1)?.id ?? null };
  // The next page begins after the last scanned delivery, whether that one is wanted or not.
  const end = rows.find(({ isEnd }) => isEnd);
  return { rows: page, lastId: end?.id ?? null };
}

/**
 * Queues one delivery again, due at once, whatever its status; a test is not queued. A delivery without
 * attempts left gets one more.
 *
 * @returns null when there is none, or its endpoint is disabled
 */
export async function requeueDelivery(
  transaction: Transaction,
  { companyId, endpointId, deliveryId }: DeliveryKey,
): Promise<DeliveryRow | null> {
  return transaction.maybeOne(sql.prepared("delivery_requeue", deliveryRow)`
    update webhooks.deliveries as delivery
    set status = 'pending',
      next_attempt_at = now(),
      delivered_at = null,
      max_attempts = greatest(delivery.max_attempts, delivery.attempt_count + 1)
    from webhooks.endpoints as endpoint
    where delivery.id = ${deliveryId}
      and delivery.endpoint_id = ${endpointId}
      and delivery.company_id = ${companyId}
      and not delivery.is_test
      and endpoint.id = delivery.endpoint_id
      and endpoint.status = 'active'
    returning ${deliveryColumns}
  `);
}

/**
 * The longest time between an event and its deliveries, whose ids derive from the event's time. A
 * delivery that is made later is not found.
 */
const MADE_LATE_MS = 7 * 24 * 60 * 60 * 1_000;

/**
 * Queues failed deliveries again that were made at a moment or later, the newest first.
 *
 * @returns the number of queued deliveries, at most `limit`
 */
export async function requeueFailed(
  transaction: Transaction,
  { companyId, endpointId }: EndpointKey,
  since: Date,
  limit: number,
): Promise<number> {
  const leastId = firstIdAt(DELIVERY_ID_PREFIX, new Date(since.getTime() - MADE_LATE_MS));
  const rows = await transaction.any(sql.type(idRow)`
    update webhooks.deliveries as delivery
    set status = 'pending',
      next_attempt_at = now(),
      max_attempts = greatest(delivery.max_attempts, delivery.attempt_count + 1)
    from (
      select failed.id
      from webhooks.deliveries as failed
      where failed.endpoint_id = ${endpointId}
        and failed.company_id = ${companyId}
        and failed.status = 'failed'
        and not failed.is_test
        and failed.id >= ${leastId}
        and failed.created_at >= ${since.toISOString()}::timestamptz
      order by failed.id desc
      limit ${limit}
      for no key update
    ) as failed
    where delivery.id = failed.id and delivery.id >= ${leastId} and delivery.status = 'failed'
    returning delivery.id
  `);
  return rows.length;
}

/** Whether deliveries are left that `requeueFailed` would queue. */
export async function hasFailed(
  queryable: Queryable,
  { companyId, endpointId }: EndpointKey,
  since: Date,
): Promise<boolean> {
  const leastId = firstIdAt(DELIVERY_ID_PREFIX, new Date(since.getTime() - MADE_LATE_MS));
  return queryable.exists(sql.type(idRow)`
    select failed.id
    from webhooks.deliveries as failed
    where failed.endpoint_id = ${endpointId}
      and failed.company_id = ${companyId}
      and failed.status = 'failed'
      and not failed.is_test
      and failed.id >= ${leastId}
      and failed.created_at >= ${since.toISOString()}::timestamptz
    limit 1
  `);
}
