import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});

/** Where processes tell each other that something about an endpoint has changed; the payload is its id. */
export const LANES_CHANNEL = "webhooks_lanes";

/** Names an endpoint of a company. */
export interface EndpointKey {
  endpointId: string;
  companyId: string;
}

/**
 * Says that something about an endpoint has changed, or deliveries of it have become due at once: whoever
 * serves it reads it anew before the next attempt. In the transaction of the change; heard with its commit.
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
 * Notes that the deliveries of an endpoint are to go: those that wait when a caller has disabled it, all of
 * them when it was deleted. In the transaction of that; the rest is done in pages afterwards.
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

/** Says that an endpoint is active again: what is made from now on stays. In the transaction of that. */
export async function keepNewDeliveries(
  queryable: Queryable,
  { endpointId, companyId }: EndpointKey,
): Promise<void> {
  await queryable.query(sql.prepared("deliveries_keep", nothing)`
    update webhooks.left_deliveries set made_before = now()
    where endpoint_id = ${endpointId} and company_id = ${companyId} and made_before is null
  `);
}
