import { sql } from "@workflow/db";
import type { Database, Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const claimedRow = z.object({ endpointId: z.string(), companyId: z.string(), epoch: z.number() });
const keptRow = z.object({ endpointId: z.string() });
const lagRow = z.object({ seconds: z.number() });

/** A lane that a process serves; the epoch is that of its lease. */
export type LeasedLane = z.output<typeof claimedRow>;

/** The limits of a claim. */
export interface LaneClaim {
  owner: string;
  leaseMs: number;
  limit: number;
  /** Companies of which the process already serves its maximum of lanes. */
  except: readonly string[];
}

/** The number of companies that one claim visits; others follow after these. */
const COMPANIES_MAX = 200;

/**
 * Claims due lanes in turns between companies (D57): the longest waiting lane of each, then the second
 * of each, and so on.
 */
export async function claimLanes(
  queryable: Queryable,
  { owner, leaseMs, limit, except }: LaneClaim,
): Promise<readonly LeasedLane[]> {
  return queryable.any(sql.prepared("lanes_claim", claimedRow)`
    with recursive company (company_id, is_due, number) as (
      (
        select company_id, due_at <= now(), 1 from webhooks.lanes
        where due_at is not null
        order by company_id, due_at
        limit 1
      )
      union all
      select next.company_id, next.is_due,
        company.number + (next.is_due and next.company_id <> all(${sql.array([...except], "uuid")}))::integer
      from company
      cross join lateral (
        select lane.company_id, lane.due_at <= now() as is_due from webhooks.lanes as lane
        where lane.company_id > company.company_id and lane.due_at is not null
        order by lane.company_id, lane.due_at
        limit 1
      ) as next
      where company.number < ${COMPANIES_MAX}
    ), candidate as materialized (
      select company.company_id, due.endpoint_id
      from company
      cross join lateral (
        select endpoint_id, due_at, row_number() over (order by due_at, endpoint_id) as turn
        from (
          select endpoint_id, due_at from webhooks.lanes
          where company_id between company.company_id and company.company_id and due_at <= now()
          order by company_id, due_at
          limit ${limit}
        ) as oldest
      ) as due
      where company.is_due and company.company_id <> all(${sql.array([...except], "uuid")})
      order by due.turn, due.due_at
      limit ${limit}
    ), chosen as (
      select locked.endpoint_id
      from candidate
      cross join lateral (
        select endpoint_id from webhooks.lanes
        where endpoint_id = candidate.endpoint_id and due_at <= now()
        for no key update skip locked
      ) as locked
    )
    update webhooks.lanes as lane
    set owner = ${owner}, epoch = lane.epoch + 1,
      leased_until = now() + ${leaseMs} * interval '1 millisecond',
      due_at = now() + ${leaseMs} * interval '1 millisecond'
    from chosen
    where lane.endpoint_id = chosen.endpoint_id
    returning lane.endpoint_id as "endpointId", lane.company_id as "companyId", lane.epoch
  `);
}

/** Claims the due ones of the named lanes. Their new deliveries were announced, so no poll is needed. */
export async function claimNamedLanes(
  queryable: Queryable,
  { owner, leaseMs }: Pick<LaneClaim, "owner" | "leaseMs">,
  endpointIds: readonly string[],
): Promise<readonly LeasedLane[]> {
  return queryable.any(sql.prepared("lanes_claim_named", claimedRow)`
    with chosen as materialized (
      select endpoint_id from webhooks.lanes
      where endpoint_id = any(${sql.array([...endpointIds], "text")}) and due_at <= now()
      for no key update skip locked
    )
    update webhooks.lanes as lane
    set owner = ${owner}, epoch = lane.epoch + 1,
      leased_until = now() + ${leaseMs} * interval '1 millisecond',
      due_at = now() + ${leaseMs} * interval '1 millisecond'
    from chosen
    where lane.endpoint_id = chosen.endpoint_id
    returning lane.endpoint_id as "endpointId", lane.company_id as "companyId", lane.epoch
  `);
}

/** Extends leases; returns the endpoints whose leases are still held. */
export async function keepLanes(
  queryable: Queryable,
  lanes: readonly LeasedLane[],
  leaseMs: number,
): Promise<ReadonlySet<string>> {
  const rows = await queryable.any(sql.prepared("lanes_keep", keptRow)`
    with kept as materialized (
      select lane.endpoint_id
      from webhooks.lanes as lane
      join ${sql.unnest(
        lanes.map(({ endpointId, epoch }) => [endpointId, epoch]),
        ["text", "int8"],
      )} as held (endpoint_id, epoch)
        on held.endpoint_id = lane.endpoint_id and held.epoch = lane.epoch
      where lane.owner is not null
      order by lane.endpoint_id
      for no key update of lane
    )
    update webhooks.lanes as lane
    set leased_until = now() + ${leaseMs} * interval '1 millisecond',
      due_at = now() + ${leaseMs} * interval '1 millisecond'
    from kept
    where lane.endpoint_id = kept.endpoint_id
    returning lane.endpoint_id as "endpointId"
  `);
  return new Set(rows.map(({ endpointId }) => endpointId));
}

/**
 * Releases lanes. They are locked first, and a second statement reads what is due, so it sees
 * everything that was stored before the lock.
 */
export async function releaseLanes(
  database: Database,
  lanes: readonly LeasedLane[],
): Promise<void> {
  const held = sql.unnest(
    lanes.map(({ endpointId, epoch }) => [endpointId, epoch]),
    ["text", "int8"],
  );
  await database.transaction(async (transaction) => {
    await transaction.query(sql.prepared("lanes_release_lock", nothing)`
      select from webhooks.lanes as lane
      join ${held} as held (endpoint_id, epoch)
        on held.endpoint_id = lane.endpoint_id and held.epoch = lane.epoch
      order by lane.endpoint_id
      for no key update of lane
    `);
    await transaction.query(sql.prepared("lanes_release", nothing)`
      update webhooks.lanes as lane
      set owner = null, leased_until = null, due_at = case when endpoint.status = 'active' then (
        select delivery.next_attempt_at from webhooks.deliveries as delivery
        where delivery.endpoint_id = lane.endpoint_id and delivery.status = 'pending'
        order by delivery.next_attempt_at
        limit 1
      ) end
      from ${held} as held (endpoint_id, epoch), webhooks.endpoints as endpoint
      where held.endpoint_id = lane.endpoint_id and held.epoch = lane.epoch
        and endpoint.id = lane.endpoint_id
    `);
  });
}

/** Notifies processes of endpoints with new deliveries. */
export async function notifyLanes(
  queryable: Queryable,
  channel: string,
  endpointIds: readonly string[],
): Promise<void> {
  await queryable.query(sql.prepared("lanes_notify", nothing)`
    select pg_notify(${channel}, endpoint_id)
    from unnest(${sql.array([...endpointIds], "text")}) as told (endpoint_id)
  `);
}

/** The time since the longest waiting lane became due, in seconds; 0 when none is due. */
export async function readLaneLag(queryable: Queryable): Promise<number> {
  const { seconds } = await queryable.one(sql.prepared("lanes_lag", lagRow)`
    select coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as seconds
    from webhooks.lanes
    where due_at <= now()
  `);
  return seconds;
}
