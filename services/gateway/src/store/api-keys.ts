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

const nothing = z.object({});

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

/** When a key was used. */
export interface ApiKeyUse {
  id: string;
  usedAt: Date;
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

/** Stores a key. Throws NOT_FOUND when the company does not exist. */
export async function insertApiKey(database: Queryable, key: NewApiKey): Promise<void> {
  try {
    await database.query(sql.type(nothing)`
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
    `);
  } catch (error) {
    if (constraintOf(error) !== "api_keys_company_fkey") throw error;
    throw new AppError("NOT_FOUND", "Company not found", { cause: error });
  }
}

/** Records when keys were last used, in one statement; a time before the stored one is ignored. */
export async function updateLastUsed(
  database: Queryable,
  uses: readonly ApiKeyUse[],
): Promise<void> {
  await database.query(sql.type(nothing)`
    update gateway.api_keys as k
    set last_used_at = u.used_at
    from unnest(
      ${sql.array(
        uses.map((use) => use.id),
        "uuid",
      )},
      ${sql.array(
        uses.map((use) => use.usedAt.toISOString()),
        "timestamptz",
      )}
    ) as u (id, used_at)
    where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.used_at)
  `);
}

function timestampOrNull(date: Date | null) {
  return date === null ? null : sql.timestamp(date);
}
