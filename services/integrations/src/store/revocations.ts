import { hexBytes, newUuid, sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import type { ConnectionKey } from "../domain/connection-key.ts";
import type { SealedCredentials } from "../encryption/sealed-credentials.ts";

const revocationRow = z.object({
  id: z.string(),
  companyId: z.string(),
  connectionId: z.string(),
  provider: z.string(),
  fields: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.record(z.string(), z.string())),
  brokerConnectionId: z.string().nullable(),
  externalAccountId: z.string().nullable(),
  tries: z.number(),
  sealedCredentials: hexBytes.nullable(),
  companyKeyId: z.string().nullable(),
  kekId: z.string().nullable(),
  wrappedKey: hexBytes.nullable(),
});
const nothing = z.object({});

/** Access that must be revoked. */
export type RevocationRow = z.output<typeof revocationRow>;

/**
 * Queues a connection's encrypted credentials for revocation at the provider or broker. Call it before
 * the credentials are erased or replaced. Nothing is queued for a connection without credentials.
 */
export async function queueRevocation(
  transaction: Transaction,
  { companyId, connectionId }: ConnectionKey,
): Promise<void> {
  await transaction.query(sql.prepared("revocation_queue", nothing)`
    insert into integrations.revocations (
      id, company_id, connection_id, provider, fields, company_key_id, sealed_credentials,
      broker_connection_id, external_account_id
    )
    select
      ${newUuid()}, connection.company_id, connection.id, connection.provider, connection.fields,
      connection.company_key_id, connection.sealed_credentials, connection.broker_connection_id,
      connection.external_account_id
    from integrations.connections as connection
    where connection.company_id = ${companyId}
      and connection.id = ${connectionId}
      and (
        connection.sealed_credentials is not null or connection.broker_connection_id is not null
      )
  `);
}

/** Credentials that were granted but must not be used, such as those of an ended attempt. */
export interface UnusedGrant {
  provider: string;
  fields: Readonly<Record<string, string>>;
  credentials: SealedCredentials;
  brokerConnectionId: string | null;
  externalAccountId: string | null;
}

/** Queues such credentials, encrypted for the connection of this key, for revocation. */
export async function queueUnusedGrant(
  database: Queryable,
  { companyId, connectionId }: ConnectionKey,
  grant: UnusedGrant,
): Promise<void> {
  await database.query(sql.prepared("revocation_queue_unused", nothing)`
    insert into integrations.revocations (
      id, company_id, connection_id, provider, fields, company_key_id, sealed_credentials,
      broker_connection_id, external_account_id
    )
    values (
      ${newUuid()}, ${companyId}, ${connectionId}, ${grant.provider},
      ${JSON.stringify(grant.fields)}::jsonb, ${grant.credentials.companyKeyId},
      ${sql.binary(grant.credentials.sealed)}, ${grant.brokerConnectionId},
      ${grant.externalAccountId}
    )
  `);
}

/** Claims due revocations for `leaseMs`, of all companies and at most `perCompany` of each. */
export async function claimRevocations(
  database: Queryable,
  { limit, perCompany, leaseMs }: { limit: number; perCompany: number; leaseMs: number },
): Promise<readonly RevocationRow[]> {
  return database.any(sql.prepared("revocations_claim", revocationRow)`
    with due as (
      select turn.id
      from (
        select
          revocation.id, revocation.next_try_at,
          row_number() over (
            partition by revocation.company_id order by revocation.next_try_at
          ) as place
        from integrations.revocations as revocation
        where revocation.next_try_at <= clock_timestamp()
      ) as turn
      where turn.place <= ${perCompany}::integer
      order by turn.next_try_at
      limit ${limit}::integer
    ),
    locked as (
      select revocation.id
      from integrations.revocations as revocation
      join due on due.id = revocation.id
      where revocation.next_try_at <= clock_timestamp()
      for update of revocation skip locked
    ),
    claimed as (
      update integrations.revocations as revocation
      set
        tries = revocation.tries + 1,
        next_try_at = clock_timestamp() + ${leaseMs}::integer * interval '1 millisecond'
      from locked
      where revocation.id = locked.id
      returning revocation.*
    )
    select
      claimed.id,
      claimed.company_id as "companyId",
      claimed.connection_id as "connectionId",
      claimed.provider,
      claimed.fields::text as "fields",
      claimed.broker_connection_id as "brokerConnectionId",
      claimed.external_account_id as "externalAccountId",
      claimed.tries,
      encode(claimed.sealed_credentials, 'hex') as "sealedCredentials",
      company_key.id as "companyKeyId",
      company_key.kek_id as "kekId",
      encode(company_key.wrapped_key, 'hex') as "wrappedKey"
    from claimed
    left join integrations.company_keys as company_key on company_key.id = claimed.company_key_id
  `);
}

const usedRow = z.object({ isUsed: z.boolean() });

/**
 * Whether a connection of any company has credentials of the account whose access must be revoked.
 * Providers end all access of an account, whoever authorized it. Without an account's id only the
 * connection itself is checked, which may be authorized again by now.
 */
export async function isAccountInUse(
  database: Queryable,
  {
    companyId,
    connectionId,
    provider,
    externalAccountId,
  }: Pick<RevocationRow, "companyId" | "connectionId" | "provider" | "externalAccountId">,
): Promise<boolean> {
  const { isUsed } = await database.one(sql.prepared("revocation_in_use", usedRow)`
    select
      exists (
        select
        from integrations.connections as connection
        where connection.company_id = ${companyId}
          and connection.id = ${connectionId}
          and connection.sealed_credentials is not null
          and (
            connection.external_account_id is null
            or connection.external_account_id
              = coalesce(${externalAccountId}::text, connection.external_account_id)
          )
      )
      or exists (
        select
        from integrations.connections as connection
        where connection.provider = ${provider}
          and connection.external_account_id = ${externalAccountId}
          and connection.sealed_credentials is not null
      ) as "isUsed"
  `);
  return isUsed;
}

/** Deletes a revocation that is done, or that will never succeed. */
export async function deleteRevocation(
  database: Queryable,
  { id, companyId }: Pick<RevocationRow, "id" | "companyId">,
): Promise<void> {
  await database.query(sql.prepared("revocation_delete", nothing)`
    delete from integrations.revocations
    where id = ${id} and company_id = ${companyId}
  `);
}

/** Postpones a revocation for another try. */
export async function postponeRevocation(
  database: Queryable,
  { id, companyId }: Pick<RevocationRow, "id" | "companyId">,
  { pauseMs, error }: { pauseMs: number; error: string },
): Promise<void> {
  await database.query(sql.prepared("revocation_postpone", nothing)`
    update integrations.revocations
    set
      next_try_at = clock_timestamp() + ${pauseMs}::integer * interval '1 millisecond',
      last_error = ${error.slice(0, 500)}
    where id = ${id} and company_id = ${companyId}
  `);
}
