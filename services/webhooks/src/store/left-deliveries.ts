import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const leftRow = z.object({
  endpointId: z.string(),
  exists: z.boolean(),
  /** Whether every attempt from before the note must have ended. */
  isSettled: z.boolean(),
});
const idRow = z.object({ id: z.string() });

/** An endpoint whose deliveries are to be cleared. */
export type LeftEndpoint = z.output<typeof leftRow>;

/** Endpoints that were deleted, or disabled by a caller, the oldest notes first. */
export async function listLeftEndpoints(
  queryable: Queryable,
  limit: number,
): Promise<readonly LeftEndpoint[]> {
  return queryable.any(sql.type(leftRow)`
    select note.endpoint_id as "endpointId", endpoint.id is not null as exists,
      note.noted_at < now() - interval '1 minute' as "isSettled"
    from webhooks.left_deliveries as note
    left join webhooks.endpoints as endpoint on endpoint.id = note.endpoint_id
    order by note.noted_at
    limit ${limit}
  `);
}

/** Fails deliveries that wait for an endpoint which a caller has disabled; returns their number. */
export async function failLeftDeliveries(
  queryable: Queryable,
  endpointId: string,
  limit: number,
): Promise<number> {
  const rows = await queryable.any(sql.prepared("deliveries_fail_left", idRow)`
    update webhooks.deliveries as delivery
    set status = 'failed', next_attempt_at = null, last_error = 'The endpoint was disabled.'
    from (
      select waiting.id from webhooks.left_deliveries as note
      join webhooks.deliveries as waiting
        on waiting.endpoint_id = note.endpoint_id and waiting.status = 'pending'
        and waiting.created_at < coalesce(note.made_before, 'infinity')
      where note.endpoint_id = ${endpointId}
      limit ${limit}
    ) as left_one
    where delivery.id = left_one.id and delivery.endpoint_id = ${endpointId}
      and delivery.status = 'pending'
    returning delivery.id
  `);
  return rows.length;
}

/** Deletes deliveries of an endpoint that no longer exists; returns their number. */
export async function deleteLeftDeliveries(
  queryable: Queryable,
  endpointId: string,
  limit: number,
): Promise<number> {
  const rows = await queryable.any(sql.prepared("deliveries_delete_left", idRow)`
    delete from webhooks.deliveries as delivery
    using (
      select id from webhooks.deliveries where endpoint_id = ${endpointId} limit ${limit}
    ) as left_one
    where delivery.id = left_one.id and delivery.endpoint_id = ${endpointId}
    returning delivery.id
  `);
  return rows.length;
}

/** Deletes the note about an endpoint whose deliveries are all cleared. */
export async function forgetLeftEndpoint(queryable: Queryable, endpointId: string): Promise<void> {
  await queryable.query(sql.prepared("left_deliveries_forget", nothing)`
    delete from webhooks.left_deliveries
    where endpoint_id = ${endpointId} and noted_at < now() - interval '1 minute'
  `);
}
