import { hexBytes, sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { DISABLED_REASONS, ENDPOINT_STATUSES } from "../domain/endpoint.ts";
import type { EndpointContent, EndpointStatus } from "../domain/endpoint.ts";
import type { Sealed } from "../secrets/endpoint-secrets.ts";
import type { EndpointKey } from "./lanes.ts";

const endpointRow = z.object({
  id: z.string(),
  companyId: z.string(),
  name: z.string(),
  url: z.string(),
  events: z.array(z.string()).nullable(),
  workflowIds: z.array(z.string()).nullable(),
  description: z.string().nullable(),
  rateLimitPerSecond: z.number().nullable(),
  sealed: hexBytes,
  status: z.enum(ENDPOINT_STATUSES),
  disabledReason: z.enum(DISABLED_REASONS).nullable(),
  disabledAt: z.date().nullable(),
  consecutiveFailures: z.number(),
  /** Null when the old secret no longer signs. */
  oldSecretExpiresAt: z.date().nullable(),
  sealedOldSecret: hexBytes.nullable(),
  keyId: z.string(),
  kekId: z.string(),
  wrappedKey: hexBytes,
  createdAt: z.date(),
  updatedAt: z.date(),
});
const nothing = z.object({});
const idRow = z.object({ id: z.string() });

/** An endpoint with its sealed secrets, and the key that seals them. */
export type EndpointRow = z.output<typeof endpointRow>;

/** The columns of the table aliased `endpoint`, beside its `company_key`. */
const endpointColumns = sql.fragment`
  endpoint.id,
  endpoint.company_id as "companyId",
  endpoint.name,
  endpoint.url,
  endpoint.events,
  endpoint.workflow_ids as "workflowIds",
  endpoint.description,
  endpoint.rate_limit_per_second as "rateLimitPerSecond",
  encode(endpoint.sealed, 'hex') as sealed,
  endpoint.status,
  endpoint.disabled_reason as "disabledReason",
  endpoint.disabled_at as "disabledAt",
  endpoint.consecutive_failures as "consecutiveFailures",
  case when endpoint.old_secret_expires_at > now()
    then endpoint.old_secret_expires_at end as "oldSecretExpiresAt",
  case when endpoint.old_secret_expires_at > now()
    then encode(endpoint.sealed_old_secret, 'hex') end as "sealedOldSecret",
  company_key.id as "keyId",
  company_key.kek_id as "kekId",
  encode(company_key.wrapped_key, 'hex') as "wrappedKey",
  endpoint.created_at as "createdAt",
  endpoint.updated_at as "updatedAt"
`;

/** An endpoint of the company; null when there is none. */
export async function findEndpoint(
  queryable: Queryable,
  { companyId, endpointId }: EndpointKey,
): Promise<EndpointRow | null> {
  return queryable.maybeOne(sql.prepared("endpoint_find", endpointRow)`
    select ${endpointColumns}
    from webhooks.endpoints as endpoint
    join webhooks.company_keys as company_key on company_key.id = endpoint.company_key_id
    where endpoint.company_id = ${companyId} and endpoint.id = ${endpointId}
  `);
}

/** The endpoint, locked until the transaction ends. Lanes can still be made for it. */
export async function lockEndpoint(
  transaction: Transaction,
  { companyId, endpointId }: EndpointKey,
): Promise<EndpointRow | null> {
  return transaction.maybeOne(sql.prepared("endpoint_lock", endpointRow)`
    select ${endpointColumns}
    from webhooks.endpoints as endpoint
    join webhooks.company_keys as company_key on company_key.id = endpoint.company_key_id
    where endpoint.company_id = ${companyId} and endpoint.id = ${endpointId}
    for no key update of endpoint
  `);
}

/** Selects endpoints of a company, and the page. */
export interface EndpointFilter {
  companyId: string;
  /** Null: any status. */
  status: EndpointStatus | null;
  limit: number;
  /** The last endpoint of the page before; null: from the beginning. */
  afterId: string | null;
}

/** A page, newest first, and whether there is more after it. */
export async function listEndpoints(
  queryable: Queryable,
  { companyId, status, limit, afterId }: EndpointFilter,
): Promise<{ rows: readonly EndpointRow[]; hasMore: boolean }> {
  const rows = await queryable.any(sql.type(endpointRow)`
    select ${endpointColumns}
    from webhooks.endpoints as endpoint
    join webhooks.company_keys as company_key on company_key.id = endpoint.company_key_id
    where endpoint.company_id = ${companyId}
      and ${status === null ? sql.fragment`true` : sql.fragment`endpoint.status = ${status}`}
      and ${afterId === null ? sql.fragment`true` : sql.fragment`endpoint.id < ${afterId}`}
    order by endpoint.id desc
    limit ${limit + 1}
  `);
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** Locks the creation of the company's endpoints until the transaction ends, so that they can be counted. */
export async function lockEndpointsOf(transaction: Transaction, companyId: string): Promise<void> {
  const name = `webhooks endpoints ${companyId}`;
  await transaction.query(sql.prepared("endpoints_lock", nothing)`
    select pg_advisory_xact_lock(hashtextextended(${name}, 0))
  `);
}

/** Stores a new endpoint; false when the company has `max`. The transaction must hold the company's lock. */
export async function insertEndpoint(
  transaction: Transaction,
  { companyId, endpointId }: EndpointKey,
  { content, sealed: { companyKeyId, sealed } }: { content: EndpointContent; sealed: Sealed },
  max: number,
): Promise<boolean> {
  const rows = await transaction.any(sql.prepared("endpoint_insert", idRow)`
    insert into webhooks.endpoints (
      id, company_id, name, url, events, workflow_ids, description, rate_limit_per_second,
      company_key_id, sealed
    )
    select
      ${endpointId}, ${companyId}, ${content.name}, ${content.url},
      ${orNull(content.events)}, ${orNull(content.workflowIds)},
      ${content.description}, ${content.rateLimitPerSecond}::integer,
      ${companyKeyId}, ${sql.binary(sealed)}
    where (
      select count(*) from webhooks.endpoints as each where each.company_id = ${companyId}
    ) < ${max}::integer
    returning id
  `);
  return rows.length > 0;
}

/** Writes the owner's changes of a locked endpoint. Another choice of events counts from now on. */
export async function updateContent(
  transaction: Transaction,
  { companyId, endpointId }: EndpointKey,
  content: EndpointContent,
  sealed: Buffer,
): Promise<void> {
  const events = orNull(content.events);
  const workflowIds = orNull(content.workflowIds);
  await transaction.query(sql.prepared("endpoint_update", nothing)`
    update webhooks.endpoints
    set name = ${content.name},
      url = ${content.url},
      events = ${events},
      workflow_ids = ${workflowIds},
      (selects_since, former_events, former_workflow_ids) = (
        select case when chosen.is_other then now() else selects_since end,
          case when chosen.is_other then endpoints.events else former_events end,
          case when chosen.is_other then endpoints.workflow_ids else former_workflow_ids end
        from (
          select (endpoints.events, endpoints.workflow_ids)
            is distinct from (${events}, ${workflowIds}) as is_other
        ) as chosen
      ),
      description = ${content.description},
      rate_limit_per_second = ${content.rateLimitPerSecond}::integer,
      sealed = ${sql.binary(sealed)},
      updated_at = now()
    where company_id = ${companyId} and id = ${endpointId}
  `);
}

/** Enables a disabled endpoint and clears its failures; false when it is active. */
export async function enableEndpoint(
  transaction: Transaction,
  { companyId, endpointId }: EndpointKey,
): Promise<boolean> {
  const rows = await transaction.any(sql.prepared("endpoint_enable", idRow)`
    update webhooks.endpoints
    set status = 'active', disabled_reason = null, disabled_at = null, consecutive_failures = 0,
      hears_since = case when disabled_reason = 'caller' then now() else hears_since end,
      updated_at = now()
    where company_id = ${companyId} and id = ${endpointId} and status = 'disabled'
    returning id
  `);
  return rows.length > 0;
}

/**
 * Disables an endpoint on a caller's behalf, even one that was disabled because of its receiver. False when a
 * caller has disabled it before.
 */
export async function disableByCaller(
  transaction: Transaction,
  { companyId, endpointId }: EndpointKey,
): Promise<boolean> {
  const rows = await transaction.any(sql.prepared("endpoint_disable_by_caller", idRow)`
    update webhooks.endpoints
    set status = 'disabled', disabled_reason = 'caller', disabled_at = now(), updated_at = now()
    where company_id = ${companyId} and id = ${endpointId}
      and disabled_reason is distinct from 'caller'
    returning id
  `);
  return rows.length > 0;
}

/** Gives a locked endpoint a new secret. The old secret, if there is one, also signs during the overlap. */
export async function updateSecrets(
  transaction: Transaction,
  { companyId, endpointId }: EndpointKey,
  sealed: Buffer,
  old: { sealed: Buffer; overlapSeconds: number } | null,
): Promise<void> {
  const sealedOld = old === null ? null : sql.binary(old.sealed);
  await transaction.query(sql.prepared("endpoint_rotate", nothing)`
    update webhooks.endpoints
    set sealed = ${sql.binary(sealed)},
      sealed_old_secret = ${sealedOld}::bytea,
      old_secret_expires_at = now() + ${old?.overlapSeconds ?? null}::integer * interval '1 second',
      updated_at = now()
    where company_id = ${companyId} and id = ${endpointId}
  `);
}

/** Deletes an endpoint; false when there is none. */
export async function deleteEndpoint(
  transaction: Transaction,
  { companyId, endpointId }: EndpointKey,
): Promise<boolean> {
  const rows = await transaction.any(sql.prepared("endpoint_delete", idRow)`
    delete from webhooks.endpoints
    where company_id = ${companyId} and id = ${endpointId}
    returning id
  `);
  return rows.length > 0;
}

/** Null means all; it is stored for an empty array. */
function orNull(values: readonly string[] | null) {
  return sql.fragment`nullif(${sql.array([...(values ?? [])], "text")}, '{}')`;
}
