import { constraintOf, sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";

const credential = z.object({
  id: z.string(),
  companyId: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  expiresAt: z.date().nullable(),
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
const created = z.object({ createdAt: z.date() });
const named = z.object({ name: z.string() });

/** A key as its company sees it. */
export type ApiKey = z.infer<typeof apiKey>;

/** What a key that has not been revoked stands for. */
export type ApiKeyCredential = z.infer<typeof credential>;

/** A key to be stored. */
export interface NewApiKey {
  id: string;
  companyId: string;
  name: string;
  keyHash: Buffer;
  keyPrefix: string;
  scopes: readonly string[];
  createdBy: string | null;
  expiresAt: Date | null;
}

/** The credential that belongs to a hash, or null when there is none or it was revoked. */
export function findCredential(
  database: Queryable,
  keyHash: Buffer,
): Promise<ApiKeyCredential | null> {
  return database.maybeOne(sql.prepared("api_key_find", credential)`
    select
      id,
      company_id as "companyId",
      name,
      scopes,
      expires_at as "expiresAt"
    from gateway.api_keys
    where key_hash = ${sql.binary(keyHash)} and revoked_at is null
  `);
}

/** Stores a key and answers when. Throws NOT_FOUND when the company does not exist. */
export async function insertApiKey(database: Queryable, key: NewApiKey): Promise<Date> {
  try {
    const { createdAt } = await database.one(sql.type(created)`
      insert into gateway.api_keys
        (id, company_id, name, key_hash, key_prefix, scopes, created_by, expires_at)
      values (
        ${key.id},
        ${key.companyId},
        ${key.name},
        ${sql.binary(key.keyHash)},
        ${key.keyPrefix},
        ${sql.array([...key.scopes], "text")},
        ${key.createdBy},
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

/** The keys of a company that were not revoked, the newest first; expired ones are among them. */
export function listApiKeys(database: Queryable, companyId: string): Promise<readonly ApiKey[]> {
  return database.any(sql.type(apiKey)`
    select
      id,
      name,
      key_prefix as "keyPrefix",
      scopes,
      created_at as "createdAt",
      expires_at as "expiresAt",
      last_used_at as "lastUsedAt"
    from gateway.api_keys
    where company_id = ${companyId} and revoked_at is null
    order by created_at desc, id desc
  `);
}

/** Revokes a key of a company. Null when there is none, or it was revoked before. */
export function revokeApiKey(
  database: Queryable,
  companyId: string,
  id: string,
): Promise<{ name: string } | null> {
  return database.maybeOne(sql.type(named)`
    update gateway.api_keys
    set revoked_at = now()
    where id = ${id} and company_id = ${companyId} and revoked_at is null
    returning name
  `);
}

function timestampOrNull(date: Date | null) {
  return date === null ? null : sql.timestamp(date);
}
