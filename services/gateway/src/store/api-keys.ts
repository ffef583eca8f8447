import { constraintOf, sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { ownLimitsColumns, ownLimitsRow } from "./rate-limits.ts";

const credential = ownLimitsRow.extend({
  keyHash: z.instanceof(Buffer),
  id: z.string(),
  companyId: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  expiresAt: z.date().nullable(),
});

const maker = z.object({
  type: z.enum(["user", "api_key"]),
  id: z.string(),
  /** The value when the key was created; null when it is no longer known. */
  name: z.string().nullable(),
});
const keyMaker = maker.extend({
  /**
   * The creator of the first key in the chain that led to this one; null for a creator who is no
   * key.
   */
  origin: maker.nullable(),
});

const apiKey = z.object({
  id: z.string(),
  name: z.string(),
  keyPrefix: z.string(),
  scopes: z.array(z.string()),
  createdAt: z.date(),
  expiresAt: z.date().nullable(),
  lastUsedAt: z.date().nullable(),
});
const listedKey = apiKey.extend({ createdBy: keyMaker.nullable() });
const created = z.object({ createdAt: z.date() });
const revoked = z.object({ id: z.string(), name: z.string() });
const counted = z.object({ count: z.number() });

/** The number of steps for which a chain of keys created by keys is followed. */
const CHAIN_MAX = 100;

/** A key as its company sees it. */
export type ApiKey = z.infer<typeof apiKey>;

/** The creator of a key. */
export type KeyMaker = z.infer<typeof keyMaker>;

/** A key with its creator; null stands for an operator. */
export type ListedApiKey = z.infer<typeof listedKey>;

/** The caller that an unrevoked key stands for. */
export type ApiKeyCredential = z.infer<typeof credential>;

/** A key to store. */
export interface NewApiKey {
  id: string;
  companyId: string;
  name: string;
  keyHash: Buffer;
  keyPrefix: string;
  scopes: readonly string[];
  createdBy: string | null;
  /** The name of the creator. */
  createdByName: string | null;
  expiresAt: Date | null;
}

/** The callers of these hashes, without revoked keys. */
export function findCredentials(
  database: Queryable,
  keyHashes: readonly Buffer[],
): Promise<readonly ApiKeyCredential[]> {
  return database.any(sql.prepared("api_keys_find", credential)`
    select
      k.key_hash as "keyHash",
      k.id,
      k.company_id as "companyId",
      k.name,
      k.scopes,
      k.expires_at as "expiresAt",
      ${ownLimitsColumns}
    from gateway.api_keys k
    join gateway.companies c on c.id = k.company_id
    where k.key_hash = any(${sql.array([...keyHashes], "bytea")}) and k.revoked_at is null
  `);
}

/**
 * Stores a key.
 *
 * @returns the time of its creation
 * @throws AppError NOT_FOUND when the company does not exist
 */
export async function insertApiKey(database: Queryable, key: NewApiKey): Promise<Date> {
  try {
    const { createdAt } = await database.one(sql.type(created)`
      insert into gateway.api_keys
        (
          id, company_id, name, key_hash, key_prefix, scopes, created_by, created_by_name, expires_at
        )
      values (
        ${key.id},
        ${key.companyId},
        ${key.name},
        ${sql.binary(key.keyHash)},
        ${key.keyPrefix},
        ${sql.array([...key.scopes], "text")},
        ${key.createdBy},
        ${key.createdByName},
        ${timestampOrNull(key.expiresAt)}
      )
      returning created_at as "createdAt"
    `);
    return createdAt;
  } catch (error) {
    if (constraintOf(error) !== "api_keys_company_fkey") throw error;
    throw new AppError("NOT_FOUND", "Company not found", { cause: error });
  }
}

/** The keys of a company to list, and the page. */
export interface KeySelection {
  companyId: string;
  /**
   * A person or a key: lists the keys that it created, and those that these created; null for all.
   */
  createdBy: string | null;
  after: { createdAt: Date; id: string } | null;
  limit: number;
}

/** The unrevoked keys of a company, the newest first; expired keys are included. */
export function listApiKeys(
  database: Queryable,
  { companyId, createdBy, after, limit }: KeySelection,
): Promise<readonly ListedApiKey[]> {
  const conditions = [
    sql.fragment`k.company_id = ${companyId}`,
    sql.fragment`k.revoked_at is null`,
    ...(createdBy === null ? [] : [sql.fragment`k.id in (select id from offspring)`]),
    ...(after === null
      ? []
      : [
          sql.fragment`(k.created_at, k.id) < (${sql.timestamp(after.createdAt)}, ${after.id}::uuid)`,
        ]),
  ];
  return database.any(sql.type(listedKey)`
    with recursive ${offspringOf(companyId, createdBy)},
    listed as (
      select
        k.id, k.name, k.key_prefix, k.scopes, k.created_by, k.created_by_name, k.created_at,
        k.expires_at, k.last_used_at
      from gateway.api_keys k
      where ${sql.join(conditions, sql.fragment` and `)}
      order by k.created_at desc, k.id desc
      limit ${limit}
    ),
    ${originsOf(companyId)}
    select
      k.id,
      k.name,
      k.key_prefix as "keyPrefix",
      k.scopes,
      k.created_at as "createdAt",
      k.expires_at as "expiresAt",
      k.last_used_at as "lastUsedAt",
      case when k.created_by is not null then json_build_object(
        'type', case when p.id is null then 'user' else 'api_key' end,
        'id', k.created_by,
        'name', coalesce(k.created_by_name, p.name, u.name),
        'origin', case when p.id is not null and o.made_by is not null then json_build_object(
          'type', 'user', 'id', o.made_by, 'name', coalesce(o.made_by_name, ou.name)
        ) end
      ) end as "createdBy"
    from listed k
    join origins o on o.id = k.id
    left join gateway.api_keys p on p.id = k.created_by and p.company_id = ${companyId}
    left join gateway.users u on u.id = k.created_by
    left join gateway.users ou on ou.id = o.made_by
    order by k.created_at desc, k.id desc
  `);
}

/**
 * The CTEs behind `listed`. `lineage` leads from each listed key to the key that made it, and so on.
 * Its last row has the maker who is no key; `origins` has only that row of each listed key.
 */
function originsOf(companyId: string): SqlFragment {
  return sql.fragment`
    lineage (id, depth, made_by, made_by_name) as (
      select id, 0, created_by, created_by_name from listed
      union all
      select l.id, l.depth + 1, p.created_by, p.created_by_name
      from lineage l
      join gateway.api_keys p on p.id = l.made_by and p.company_id = ${companyId}
      where l.depth < ${CHAIN_MAX}
    ),
    origins as (
      select distinct on (id) id, depth, made_by, made_by_name
      from lineage
      order by id, depth desc
    )
  `;
}

/**
 * The ids of all keys that a person or key created, and of those that these created; revoked ones
 * included.
 */
function offspringOf(companyId: string, createdBy: string | null): SqlFragment {
  return sql.fragment`
    offspring (id) as (
      select id
      from gateway.api_keys
      where company_id = ${companyId} and created_by = ${createdBy}
      union
      select k.id
      from offspring o
      join gateway.api_keys k on k.company_id = ${companyId} and k.created_by = o.id
    )
  `;
}

/** The number of a company's unrevoked keys. */
export async function countApiKeys(database: Queryable, companyId: string): Promise<number> {
  const { count } = await database.one(sql.type(counted)`
    select count(*) as count
    from gateway.api_keys
    where company_id = ${companyId} and revoked_at is null
  `);
  return count;
}

/** Revokes the unrevoked keys that a person or key created, and those that these created. */
export function revokeApiKeysBy(
  database: Queryable,
  companyId: string,
  createdBy: string,
): Promise<readonly { id: string; name: string }[]> {
  return database.any(sql.type(revoked)`
    with recursive ${offspringOf(companyId, createdBy)}
    update gateway.api_keys
    set revoked_at = now()
    where company_id = ${companyId}
      and revoked_at is null
      and id in (select id from offspring)
    returning id, name
  `);
}

/** Revokes a key of a company. Null when it does not exist or is revoked already. */
export function revokeApiKey(
  database: Queryable,
  companyId: string,
  id: string,
): Promise<{ name: string } | null> {
  return database.maybeOne(sql.type(revoked)`
    update gateway.api_keys
    set revoked_at = now()
    where id = ${id} and company_id = ${companyId} and revoked_at is null
    returning id, name
  `);
}

function timestampOrNull(date: Date | null) {
  return date === null ? null : sql.timestamp(date);
}
