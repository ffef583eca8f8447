import { constraintOf } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { unwrapCompanyKey, wrapCompanyKey } from "../encryption/company-keys.ts";
import { createKeyRing } from "../encryption/key-ring.ts";
import type { KeyRing } from "../encryption/key-ring.ts";
import { assertComplete } from "../encryption/open-key-ring.ts";
import { countCompanyKeys, lockKeysUnder, updateWrapping } from "../store/company-keys.ts";
import { registerKek, retireKeksExcept, withRotationLock } from "../store/keks.ts";

/** Where a rotation gets the keys from. */
export interface KekSource {
  /** The keys to go on with, the new one first; all others are to be retired. */
  begin(): Promise<readonly Buffer[]>;
  /** Nothing needs any key but this one any more. */
  end(kek: Buffer): Promise<void>;
}

/** What a rotation did. */
export interface Rotation {
  /** The id of the key that everything is under now. */
  kekId: string;
  /** Company keys that were wrapped anew. */
  rewrapped: number;
  /** Company keys in all. */
  companyKeys: number;
  /** The ids of keys that were known before and are not used any more. */
  retired: string[];
}

const BATCH = 500;
/** Keys may be made under an old KEK while the last batch is at work; they are few. */
const PASSES_MAX = 20;

/**
 * Wraps every company's key with the first key of the source and retires the others. May be
 * interrupted and called again, beside services that run. Secrets themselves are not touched.
 *
 * @throws ConfigError naming SECRETS_KEK when the source lacks a key, AppError CONFLICT when
 * another rotation is under way
 */
export async function rotateKek(database: Database, source: KekSource): Promise<Rotation> {
  return withRotationLock(database, async () => {
    const keys = await source.begin();
    const ring = await createKeyRing(() => Promise.resolve(keys));
    await assertComplete(database, ring);
    const { id: kekId, key } = ring.primary();
    await registerKek(database, kekId);
    const { rewrapped, retired } = await rewrapAndRetire(database, ring);
    await source.end(key);
    return { kekId, rewrapped, companyKeys: await countCompanyKeys(database), retired };
  });
}

async function rewrapAndRetire(
  database: Database,
  ring: KeyRing,
): Promise<Pick<Rotation, "rewrapped" | "retired">> {
  let rewrapped = 0;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    rewrapped += await rewrapAll(database, ring);
    try {
      return { rewrapped, retired: await retireKeksExcept(database, ring.primary().id) };
    } catch (error) {
      // A service that does not know the new key yet has just made one under the old.
      if (constraintOf(error) !== "company_keys_kek_fkey") throw error;
    }
  }
  throw new AppError("CONFLICT", "Services keep encrypting with an old key; call this again.");
}

async function rewrapAll(database: Database, ring: KeyRing): Promise<number> {
  let total = 0;
  for (;;) {
    const count = await rewrapBatch(database, ring);
    if (count === 0) return total;
    total += count;
  }
}

async function rewrapBatch(database: Database, ring: KeyRing): Promise<number> {
  const kek = ring.primary();
  const others = ring.ids().filter((id) => id !== kek.id);
  return database.transaction(async (transaction) => {
    const batch = await lockKeysUnder(transaction, others, BATCH);
    const changed: { id: string; wrappedKey: Buffer }[] = [];
    for (const wrapped of batch) {
      const key = await unwrapCompanyKey(ring, wrapped);
      changed.push({ id: wrapped.id, wrappedKey: wrapCompanyKey(kek, key, wrapped) });
    }
    if (changed.length > 0) await updateWrapping(transaction, kek.id, changed);
    return changed.length;
  });
}
