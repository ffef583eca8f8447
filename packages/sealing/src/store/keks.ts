import { sql } from "@workflow/db";
import type { Database, Queryable } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import type { SealingSchema } from "../key-ring.ts";

const idRow = z.object({ id: z.string() });

/** Registers a KEK, so that company keys may be wrapped with it. */
export async function registerKek(
  database: Queryable,
  schema: SealingSchema,
  id: string,
): Promise<void> {
  await database.query(sql.type(z.object({}))`
    insert into ${sql.identifier([schema, "keks"])} (id) values (${id}) on conflict (id) do nothing
  `);
}

/** The KEKs, other than the given ones, that wrap company keys. */
export async function listUsedKeksExcept(
  database: Queryable,
  schema: SealingSchema,
  knownIds: readonly string[],
): Promise<string[]> {
  const rows = await database.any(sql.type(idRow)`
    select kek.id
    from ${sql.identifier([schema, "keks"])} as kek
    where kek.id <> all(${sql.array(knownIds, "text")})
      and exists (
        select from ${sql.identifier([schema, "company_keys"])} as company_key
        where company_key.kek_id = kek.id
      )
    order by kek.id
  `);
  return rows.map(({ id }) => id);
}

/**
 * Removes every other KEK, so that nothing can be wrapped with it. Violates `company_keys_kek_fkey` while one is in
 * use.
 */
export async function retireKeksExcept(
  database: Queryable,
  schema: SealingSchema,
  id: string,
): Promise<string[]> {
  const rows = await database.any(sql.type(idRow)`
    delete from ${sql.identifier([schema, "keks"])} where id <> ${id} returning id
  `);
  return rows.map((row) => row.id);
}

/**
 * Runs a rotation of a schema. It needs a connection of its own.
 * @throws AppError CONFLICT when another rotation is under way
 */
export async function withRotationLock<Result>(
  database: Database,
  schema: SealingSchema,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = `${schema} rotate-kek`;
  return database.connect(async (connection) => {
    // The session holds the lock, because the work takes many transactions. The lock ends with the process.
    const { locked } = await connection.one(sql.type(z.object({ locked: z.boolean() }))`
      select pg_try_advisory_lock(hashtextextended(${lock}, 0)) as locked
    `);
    if (!locked) throw new AppError("CONFLICT", "Another rotation of the key is under way.");
    try {
      return await work();
    } finally {
      await connection.query(sql.type(z.object({}))`
        select pg_advisory_unlock(hashtextextended(${lock}, 0))
      `);
    }
  });
}
