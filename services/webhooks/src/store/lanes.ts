import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});

/** The channel on which processes announce changes of endpoints. The payload is the endpoint's id. */
export const LANES_CHANNEL = "webhooks_lanes";

/** Identifies an endpoint of a company. */
export interface EndpointKey {
  endpointId: string;
  companyId: string;
}

/**
 * Announces that an endpoint has changed, or that its deliveries have become due at once. The process
 * that serves the endpoint reads it again before the next attempt. Call it in the transaction of the
 * change; it takes effect with the commit.
 */
export async function announceEndpoint(
  queryable: Queryable,
  { endpointId, companyId }: EndpointKey,
): Promise<void> {
  await queryable.query(sql.prepared("lane_announce", nothing)`
    with woken as (
      update webhooks.lanes as lane
      set due_at = case
        when lane.leased_until > now() then lane.due_at
        else least(coalesce(lane.due_at, now()), now())
      end
      from webhooks.endpoints as endpoint
      where lane.endpoint_id = ${endpointId} and lane.company_id = ${companyId}
        and endpoint.id = lane.endpoint_id
    )
    select from pg_notify(${LANES_CHANNEL}, ${endpointId})
  `);
}

/**
 * Notes that deliveries of an endpoint are to be cleared: the waiting ones when a caller has disabled it, all of
 * them when it was deleted. Call it in the same transaction; the clearing follows in pages.
 */
export async function leaveDeliveries(
  queryable: Queryable,
  { endpointId, companyId }: EndpointKey,
): Promise<void> {
  await queryable.query(sql.prepared("deliveries_leave", nothing)`
    insert into webhooks.left_deliveries (endpoint_id, company_id)
    values (${endpointId}, ${companyId})
    on conflict (endpoint_id) do update set made_before = null, noted_at = now()
  `);
}

/**
 * Notes that an endpoint is active again, so that deliveries from now on are not cleared. Call it in the same
 * transaction.
 */
export async function keepNewDeliveries(
  queryable: Queryable,
  { endpointId, companyId }: EndpointKey,
): Promise<void> {
  await queryable.query(sql.prepared("deliveries_keep", nothing)`
    update webhooks.left_deliveries set made_before = now()
    where endpoint_id = ${endpointId} and company_id = ${companyId} and made_before is null
  `);
}
