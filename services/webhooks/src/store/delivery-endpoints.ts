import { hexBytes, sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const endpointRow = z.object({
  endpointId: z.string(),
  companyId: z.string(),
  name: z.string(),
  url: z.string(),
  isActive: z.boolean(),
  rateLimitPerSecond: z.number().nullable(),
  consecutiveFailures: z.number(),
  sealed: hexBytes,
  /** Null when the old secret no longer signs. */
  sealedOldSecret: hexBytes.nullable(),
  keyId: z.string(),
  kekId: z.string(),
  wrappedKey: hexBytes,
});
const countedRow = z.object({ endpointId: z.string(), consecutiveFailures: z.number() });
const disabledRow = z.object({
  endpointId: z.string(),
  companyId: z.string(),
  name: z.string(),
  consecutiveFailures: z.number(),
  disabledAt: z.date(),
});
const companyRow = z.object({ companyId: z.string() });

/** The columns of an endpoint that a delivery needs. */
export type DeliveryEndpoint = z.output<typeof endpointRow>;

/** Endpoints by id; those that do not exist (any more) are left out. */
export async function readDeliveryEndpoints(
  queryable: Queryable,
  endpointIds: readonly string[],
): Promise<ReadonlyMap<string, DeliveryEndpoint>> {
  const rows = await queryable.any(sql.prepared("endpoints_for_delivery", endpointRow)`
    select endpoint.id as "endpointId", endpoint.company_id as "companyId", endpoint.name,
      endpoint.url, endpoint.status = 'active' as "isActive",
      endpoint.rate_limit_per_second as "rateLimitPerSecond",
      endpoint.consecutive_failures as "consecutiveFailures",
      encode(endpoint.sealed, 'hex') as sealed,
      case when endpoint.old_secret_expires_at > now()
        then encode(endpoint.sealed_old_secret, 'hex') end as "sealedOldSecret",
      company_key.id as "keyId", company_key.kek_id as "kekId",
      encode(company_key.wrapped_key, 'hex') as "wrappedKey"
    from webhooks.endpoints as endpoint
    join webhooks.company_keys as company_key on company_key.id = endpoint.company_key_id
    where endpoint.id = any(${sql.array([...endpointIds], "text")})
  `);
  return new Map(rows.map((row) => [row.endpointId, row]));
}

/** The outcomes of one endpoint's attempts, in their order. */
export interface AttemptTally {
  endpointId: string;
  epoch: number;
  /** Whether any attempt succeeded. */
  hadSuccess: boolean;
  /** Failures after the last success, or all. */
  failures: number;
}

/**
 * Counts the attempts of endpoints that failed in a row (D47).
 *
 * @returns the present counts of the endpoints whose lane is still held
 */
export async function countFailures(
  queryable: Queryable,
  tallies: readonly AttemptTally[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await queryable.any(sql.prepared("endpoints_count", countedRow)`
    with tally as materialized (
      select endpoint.id, counted.had_success, counted.failures
      from ${sql.unnest(
        tallies.map(({ endpointId, epoch, hadSuccess, failures }) => [
          endpointId,
          epoch,
          hadSuccess,
          failures,
        ]),
        ["text", "int8", "bool", "int4"],
      )} as counted (endpoint_id, epoch, had_success, failures)
      join webhooks.lanes as lane
        on lane.endpoint_id = counted.endpoint_id and lane.epoch = counted.epoch
      join webhooks.endpoints as endpoint on endpoint.id = counted.endpoint_id
      order by endpoint.id
      for no key update of endpoint
    )
    update webhooks.endpoints as endpoint
    set consecutive_failures = tally.failures
      + case when tally.had_success then 0 else endpoint.consecutive_failures end
    from tally
    where endpoint.id = tally.id
    returning endpoint.id as "endpointId",
      endpoint.consecutive_failures as "consecutiveFailures"
  `);
  return new Map(rows.map((row) => [row.endpointId, row.consecutiveFailures]));
}

/** An endpoint that was just disabled. */
export type DisabledEndpoint = z.output<typeof disabledRow>;

/**
 * Disables an endpoint whose receiver is gone, or has failed too often, once.
 *
 * @returns null when it is disabled already, or has recovered meanwhile
 */
export async function disableEndpoint(
  queryable: Queryable,
  { endpointId, companyId }: { endpointId: string; companyId: string },
  reason: "gone" | "consecutive_failures",
  failuresMin: number,
): Promise<DisabledEndpoint | null> {
  return queryable.maybeOne(sql.prepared("endpoint_disable", disabledRow)`
    update webhooks.endpoints
    set status = 'disabled', disabled_reason = ${reason}, disabled_at = now(), updated_at = now()
    where id = ${endpointId} and company_id = ${companyId} and status = 'active'
      and consecutive_failures >= ${failuresMin}
    returning id as "endpointId", company_id as "companyId", name,
      consecutive_failures as "consecutiveFailures", disabled_at as "disabledAt"
  `);
}

/** Companies that have endpoints, in the order of their ids. */
export async function listCompaniesWithEndpoints(
  queryable: Queryable,
  afterCompanyId: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await queryable.any(sql.prepared("companies_with_endpoints", companyRow)`
    with recursive company (company_id, number) as (
      (
        select company_id, 1 from webhooks.endpoints
        where company_id > ${afterCompanyId}
        order by company_id
        limit 1
      )
      union all
      select next.company_id, company.number + 1
      from company
      cross join lateral (
        select endpoint.company_id from webhooks.endpoints as endpoint
        where endpoint.company_id > company.company_id
        order by endpoint.company_id
        limit 1
      ) as next
      where company.number < ${limit}
    )
    select company_id as "companyId" from company order by company_id
  `);
  return rows.map(({ companyId }) => companyId);
}
