import { randomBytes } from "node:crypto";
import { constraintOf, newUuid } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { findCompanyKey, insertCompanyKey } from "./store/company-keys.ts";
import type { WrappedKey } from "./store/company-keys.ts";
import type { Kek, KeyRing } from "./key-ring.ts";
import { open, seal, SealBrokenError } from "./sealing.ts";

/** The key that encrypts the secrets of one company. */
export interface CompanyKey {
  id: string;
  key: Buffer;
}

const KEY_BYTES = 32;

/** The company's key, created at its first use. Concurrent callers get the same key. */
export async function ensureCompanyKey(
  database: Queryable,
  ring: KeyRing,
  companyId: string,
): Promise<CompanyKey> {
  const wrapped =
    (await findCompanyKey(database, ring.schema, companyId)) ??
    (await makeCompanyKey(database, ring, companyId));
  return { id: wrapped.id, key: await unwrapCompanyKey(ring, wrapped) };
}

/**
 * Decrypts a company's key.
 *
 * @throws AppError UNAVAILABLE when SECRETS_KEK lacks the key that wrapped it
 */
export async function unwrapCompanyKey(ring: KeyRing, wrapped: WrappedKey): Promise<Buffer> {
  const kek = await ring.get(wrapped.kekId);
  try {
    return open(kek.key, wrapped.wrappedKey, contextOf(wrapped));
  } catch (error) {
    if (!(error instanceof SealBrokenError)) throw error;
    throw new AppError("INTERNAL_ERROR", "An internal error occurred.", {
      internal: `the company key ${wrapped.id} in the database was changed`,
      cause: error,
    });
  }
}

/** Encrypts a company's key with another KEK. */
export function wrapCompanyKey(kek: Kek, key: Buffer, ids: KeyIds): Buffer {
  return seal(kek.key, key, contextOf(ids));
}

type KeyIds = Pick<WrappedKey, "id" | "companyId">;

async function makeCompanyKey(
  database: Queryable,
  ring: KeyRing,
  companyId: string,
): Promise<WrappedKey> {
  try {
    return await insertUnderPrimary(database, ring, companyId);
  } catch (error) {
    if (constraintOf(error) !== "company_keys_kek_fkey") throw error;
    // A rotation has retired our primary key. The source may know the new one.
    if (await ring.reload()) return insertUnderPrimary(database, ring, companyId);
    throw new AppError("UNAVAILABLE", "Secrets cannot be stored at the moment.", {
      internal: `SECRETS_KEK begins with the key ${ring.primary().id}, which has been retired.`,
      cause: error,
    });
  }
}

async function insertUnderPrimary(
  database: Queryable,
  ring: KeyRing,
  companyId: string,
): Promise<WrappedKey> {
  const kek = ring.primary();
  const ids = { id: newUuid(), companyId };
  const wrappedKey = wrapCompanyKey(kek, randomBytes(KEY_BYTES), ids);
  return insertCompanyKey(database, ring.schema, { ...ids, kekId: kek.id, wrappedKey });
}

function contextOf({ id, companyId }: KeyIds): string[] {
  return ["company-key", companyId, id];
}
