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

/** Access that is to be taken back. */
export type RevocationRow = z.output<typeof revocationRow>;

/**
 * Notes, before a connection's credentials are erased or replaced, that they are to be taken back at the provider or
 * broker. They stay encrypted as they are. A connection without any leaves nothing.
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

/** Credentials that were got but may not be used, such as those of an attempt that is over. */
export interface UnusedGrant {
  provider: string;
  fields: Readonly<Record<string, string>>;
  credentials: SealedCredentials;
  brokerConnectionId: string | null;
  externalAccountId: string | null;
}

/** Notes such credentials, sealed for the connection of this key. */
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

/**
 * Takes what is due, of all companies and at most `perCompany` of each, for `leaseMs`: other replicas
 * leave it alone until then.
 */
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
 * Whether a connection has credentials of the account whose access is to be taken back. Of any company:
 * providers end the access of an account as a whole, whoever authorized it. Without an account's id only
 * the connection itself is looked at, which may be authorized anew by now.
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

/** It is taken back, or will never be: nothing is kept of it. */
export async function deleteRevocation(
  database: Queryable,
  { id, companyId }: Pick<RevocationRow, "id" | "companyId">,
): Promise<void> {
  await database.query(sql.prepared("revocation_delete", nothing)`
    delete from integrations.revocations
    where id = ${id} and company_id = ${companyId}
  `);
}

/** Tries again after a pause. */
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
