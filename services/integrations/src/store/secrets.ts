import { constraintOf, hexBytes, sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import type { SecretPlace, WorkflowKey } from "../domain/secret-place.ts";

const secretRow = z.object({
  id: z.string(),
  workflowId: z.string(),
  key: z.string(),
  maskedValue: z.string(),
  allowedHosts: z.array(z.string()).nullable(),
  lastUsedAt: z.date().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
});
const sealedRow = z.object({
  id: z.string(),
  key: z.string(),
  allowedHosts: z.array(z.string()).nullable(),
  sealedValue: hexBytes,
  companyKeyId: z.string(),
  kekId: z.string(),
  wrappedKey: hexBytes,
});

const replacedRow = secretRow.extend({ earlierHosts: z.array(z.string()).nullable() });

/** A secret without its value. */
export type SecretRow = z.infer<typeof secretRow>;

/** A secret after its value was replaced, with its former hosts. */
export type ReplacedRow = z.infer<typeof replacedRow>;

/** A secret's encrypted value, and the wrapped key that decrypts it. */
export type SealedRow = z.infer<typeof sealedRow>;

/** A value that is encrypted for its place. */
export interface SealedSecret {
  companyKeyId: string;
  sealedValue: Buffer;
  maskedValue: string;
}

/** The columns of `secretRow`, of a table with the alias `secret`. */
const secretColumns = sql.fragment`
  secret.id,
  secret.workflow_id as "workflowId",
  secret.key,
  secret.masked_value as "maskedValue",
  secret.allowed_hosts as "allowedHosts",
  secret.last_used_at as "lastUsedAt",
  secret.created_at as "createdAt",
  secret.updated_at as "updatedAt"
`;

/** All secrets of a workflow in the order of their keys. */
export async function listSecrets(
  database: Queryable,
  { companyId, workflowId }: WorkflowKey,
): Promise<readonly SecretRow[]> {
  return database.any(sql.prepared("secrets_list", secretRow)`
    select ${secretColumns}
    from integrations.secrets as secret
    where secret.company_id = ${companyId} and secret.workflow_id = ${workflowId}
    order by secret.key
  `);
}

/** The number of a workflow's secrets. */
export async function countSecrets(
  database: Queryable,
  { companyId, workflowId }: WorkflowKey,
): Promise<number> {
  return database.oneFirst(sql.prepared("secrets_count", z.object({ count: z.number() }))`
    select count(*) as count
    from integrations.secrets as secret
    where secret.company_id = ${companyId} and secret.workflow_id = ${workflowId}
  `);
}

/** A secret to be stored. */
export interface NewSecret {
  id: string;
  sealed: SealedSecret;
  allowedHosts: readonly string[] | null;
  /** The limit of the workflow's secrets, this one included. */
  secretsMax: number;
}

/**
 * Stores a new secret; null when the workflow is archived or has `secretsMax`. The transaction must
 * hold the workflow's lock.
 *
 * @throws AppError CONFLICT when the key exists
 */
export async function insertSecret(
  transaction: Transaction,
  { companyId, workflowId, key }: SecretPlace,
  { id, sealed, allowedHosts, secretsMax }: NewSecret,
): Promise<SecretRow | null> {
  try {
    return await transaction.maybeOne(sql.prepared("secret_insert", secretRow)`
      insert into integrations.secrets as secret (
        id, company_id, workflow_id, key, company_key_id, sealed_value, masked_value,
        allowed_hosts
      )
      select ${id}, ${companyId}, ${workflowId}, ${key}, ${sealed.companyKeyId},
        ${sql.binary(sealed.sealedValue)}, ${sealed.maskedValue}, ${hostsLiteral(allowedHosts)}::text[]
      where not exists (
        select
        from integrations.archived_workflows as archived
        where archived.company_id = ${companyId} and archived.workflow_id = ${workflowId}
      ) and (
        select count(*)
        from integrations.secrets as each
        where each.company_id = ${companyId} and each.workflow_id = ${workflowId}
      ) < ${secretsMax}::integer
      returning ${secretColumns}
    `);
  } catch (error) {
    if (constraintOf(error) !== "secrets_key_key") throw error;
    throw new AppError("CONFLICT", `The workflow already has a secret ${key}.`, { cause: error });
  }
}

/**
 * Gives a secret another value; null when there is no such secret.
 *
 * @param allowedHosts the new hosts; undefined keeps the present ones
 */
export async function replaceSecret(
  database: Queryable,
  { companyId, workflowId, key }: SecretPlace,
  sealed: SealedSecret,
  allowedHosts: readonly string[] | null | undefined,
): Promise<ReplacedRow | null> {
  return database.maybeOne(sql.prepared("secret_replace", replacedRow)`
    with earlier as (
      select secret.id, secret.allowed_hosts
      from integrations.secrets as secret
      where secret.company_id = ${companyId}
        and secret.workflow_id = ${workflowId}
        and secret.key = ${key}
      for no key update
    )
    update integrations.secrets as secret
    set
      company_key_id = ${sealed.companyKeyId},
      sealed_value = ${sql.binary(sealed.sealedValue)},
      masked_value = ${sealed.maskedValue},
      allowed_hosts = case
        when ${allowedHosts === undefined}::boolean then earlier.allowed_hosts
        else ${hostsLiteral(allowedHosts ?? null)}::text[]
      end,
      updated_at = clock_timestamp()
    from earlier
    where secret.id = earlier.id
      and secret.company_id = ${companyId}
    returning ${secretColumns}, earlier.allowed_hosts as "earlierHosts"
  `);
}

/** Deletes a secret and returns its last state; null when there is none. */
export async function deleteSecret(
  database: Queryable,
  { companyId, workflowId, key }: SecretPlace,
): Promise<SecretRow | null> {
  return database.maybeOne(sql.prepared("secret_delete", secretRow)`
    delete from integrations.secrets as secret
    where secret.company_id = ${companyId}
      and secret.workflow_id = ${workflowId}
      and secret.key = ${key}
    returning ${secretColumns}
  `);
}

/** The values of the existing keys among these. */
export async function listSealed(
  database: Queryable,
  { companyId, workflowId }: WorkflowKey,
  keys: readonly string[],
): Promise<readonly SealedRow[]> {
  return database.any(sql.prepared("secrets_list_sealed", sealedRow)`
    select
      secret.id,
      secret.key,
      secret.allowed_hosts as "allowedHosts",
      encode(secret.sealed_value, 'hex') as "sealedValue",
      company_key.id as "companyKeyId",
      company_key.kek_id as "kekId",
      encode(company_key.wrapped_key, 'hex') as "wrappedKey"
    from integrations.secrets as secret
    join integrations.company_keys as company_key on company_key.id = secret.company_key_id
    where secret.company_id = ${companyId}
      and secret.workflow_id = ${workflowId}
      and secret.key = any(${sql.array(keys, "text")})
  `);
}

/** Stores when secrets were last used, in one statement. A time never goes back. */
export async function updateLastUsed(
  database: Queryable,
  uses: readonly { id: string; usedAt: Date }[],
): Promise<void> {
  const ids = uses.map(({ id }) => id);
  const times = uses.map(({ usedAt }) => usedAt.toISOString());
  // Rows are locked in one order, so that two processes which write the same rows cannot deadlock.
  await database.query(sql.prepared("secrets_last_used", z.object({}))`
    with used as (
      select secret.id, use.used_at
      from integrations.secrets as secret
      join unnest(${sql.array(ids, "uuid")}, ${sql.array(times, "timestamptz")})
        as use (id, used_at) on use.id = secret.id
      order by secret.id
      for no key update of secret
    )
    update integrations.secrets as secret
    set last_used_at = greatest(secret.last_used_at, used.used_at)
    from used
    where secret.id = used.id
  `);
}

/** An array as text, because the statement has one name for an array and for null. Hosts contain no quotes. */
function hostsLiteral(hosts: readonly string[] | null): string | null {
  return hosts === null ? null : `{${hosts.map((host) => JSON.stringify(host)).join(",")}}`;
}
