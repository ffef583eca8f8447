import { hexBytes, sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import type { SealingSchema } from "../key-ring.ts";

const wrappedKeyRow = z.object({
  id: z.string(),
  companyId: z.string(),
  kekId: z.string(),
  wrappedKey: hexBytes,
});
const nothing = z.object({});

/** A company's key as stored, encrypted under the KEK of that id. */
export type WrappedKey = z.infer<typeof wrappedKeyRow>;

/** The columns of `wrappedKeyRow`, for a table with the alias `company_key`. */
const wrappedKeyColumns = sql.fragment`
  company_key.id,
  company_key.company_id as "companyId",
  company_key.kek_id as "kekId",
  encode(company_key.wrapped_key, 'hex') as "wrappedKey"
`;

/** The key of a company, or null when it has none yet. */
export async function findCompanyKey(
  database: Queryable,
  schema: SealingSchema,
  companyId: string,
): Promise<WrappedKey | null> {
  return database.maybeOne(sql.prepared(`company_key_find_${schema}`, wrappedKeyRow)`
    select ${wrappedKeyColumns}
    from ${tableOf(schema)} as company_key
    where company_key.company_id = ${companyId}
  `);
}

/**
 * Stores the first key of a company. Returns the company's key, which may be that of a faster caller. Violates
 * `company_keys_kek_fkey` when the KEK is retired.
 */
export async function insertCompanyKey(
  database: Queryable,
  schema: SealingSchema,
  key: WrappedKey,
): Promise<WrappedKey> {
  await database.query(sql.prepared(`company_key_insert_${schema}`, nothing)`
    insert into ${tableOf(schema)} (id, company_id, kek_id, wrapped_key)
    values (${key.id}, ${key.companyId}, ${key.kekId}, ${sql.binary(key.wrappedKey)})
    on conflict (company_id) do nothing
  `);
  const stored = await findCompanyKey(database, schema, key.companyId);
  if (stored === null) throw new Error("A company key that was inserted is not there.");
  return stored;
}

/** Locks and returns keys that one of the KEKs wraps, until the transaction ends. */
export async function lockKeysUnder(
  transaction: Transaction,
  schema: SealingSchema,
  kekIds: readonly string[],
  limit: number,
): Promise<readonly WrappedKey[]> {
  return transaction.any(sql.type(wrappedKeyRow)`
    select ${wrappedKeyColumns}
    from ${tableOf(schema)} as company_key
    where company_key.kek_id = any(${sql.array(kekIds, "text")})
    order by company_key.kek_id, company_key.id
    limit ${limit}
    for no key update
  `);
}

/** Stores rewrapped keys. */
export async function updateWrapping(
  transaction: Transaction,
  schema: SealingSchema,
  kekId: string,
  keys: readonly { id: string; wrappedKey: Buffer }[],
): Promise<void> {
  const ids = keys.map(({ id }) => id);
  const wrapped = keys.map(({ wrappedKey }) => wrappedKey.toString("hex"));
  await transaction.query(sql.type(nothing)`
    update ${tableOf(schema)} as company_key
    set kek_id = ${kekId}, wrapped_key = decode(changed.wrapped, 'hex')
    from unnest(${sql.array(ids, "uuid")}, ${sql.array(wrapped, "text")}) as changed (id, wrapped)
    where company_key.id = changed.id
  `);
}

/** The number of companies with a key. */
export async function countCompanyKeys(
  database: Queryable,
  schema: SealingSchema,
): Promise<number> {
  const { count } = await database.one(sql.type(z.object({ count: z.number() }))`
    select count(*) as count from ${tableOf(schema)}
  `);
  return count;
}

function tableOf(schema: SealingSchema) {
  return sql.identifier([schema, "company_keys"]);
}
