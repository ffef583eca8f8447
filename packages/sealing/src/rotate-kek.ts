import { constraintOf } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { unwrapCompanyKey, wrapCompanyKey } from "./company-keys.ts";
import { createKeyRing, primaryOf } from "./key-ring.ts";
import type { KeyRing, SealingSchema } from "./key-ring.ts";
import { assertComplete } from "./open-key-ring.ts";
import { countCompanyKeys, lockKeysUnder, updateWrapping } from "./store/company-keys.ts";
import { registerKek, retireKeksExcept, withRotationLock } from "./store/keks.ts";

/** The source of a rotation's keys. */
export interface KekSource {
  /** The keys for the rotation, the new one first. All others will be retired. */
  begin(): Promise<readonly Buffer[]>;
  /** Called when nothing needs any other key any more. */
  end(kek: Buffer): Promise<void>;
}

/** A schema whose company keys are rewrapped, with a database connection that may write it. */
export interface SealedSchema {
  database: Database;
  schema: SealingSchema;
}

/** The result of a rotation, over all schemas. */
export interface Rotation {
  /** The id of the key that now wraps everything. */
  kekId: string;
  /** The number of company keys that were rewrapped. */
  rewrapped: number;
  /** The number of all company keys. */
  companyKeys: number;
  /** The ids of former keys that are no longer used. */
  retired: string[];
}

const BATCH = 500;
/** Services may create a few keys under an old KEK during the last batch, so passes repeat. */
const PASSES_MAX = 20;

/**
 * Wraps every company's keys of all schemas with the first key of the source and retires the others. May be
 * interrupted and called again, beside services that run. What is sealed is not touched.
 *
 * @throws ConfigError naming SECRETS_KEK when the source lacks a key, AppError CONFLICT when
 * another rotation is under way
 */
export async function rotateKek(
  schemas: readonly SealedSchema[],
  source: KekSource,
): Promise<Rotation> {
  return withRotationLocks(schemas, async () => {
    const keys = await source.begin();
    const targets = await checkTargets(schemas, keys);
    const total = { rewrapped: 0, companyKeys: 0 };
    const retired = new Set<string>();
    for (const { database, ring } of targets) {
      const changed = await rewrapAndRetire(database, ring);
      total.rewrapped += changed.rewrapped;
      total.companyKeys += await countCompanyKeys(database, ring.schema);
      for (const id of changed.retired) retired.add(id);
    }
    const kek = primaryOf(keys);
    // This waits for the last schema: until then a company key may need an old KEK.
    await source.end(kek.key);
    return { kekId: kek.id, ...total, retired: [...retired] };
  });
}

/** Checks that the keys open the content of every schema before any schema is changed. */
async function checkTargets(schemas: readonly SealedSchema[], keys: readonly Buffer[]) {
  const targets: { database: Database; ring: KeyRing }[] = [];
  for (const { database, schema } of schemas) {
    const ring = await createKeyRing(schema, () => Promise.resolve(keys));
    await assertComplete(database, ring);
    targets.push({ database, ring });
  }
  for (const { database, ring } of targets) {
    await registerKek(database, ring.schema, ring.primary().id);
  }
  return targets;
}

/** Holds one lock for each schema, taken in the order of the list. */
async function withRotationLocks<Result>(
  schemas: readonly SealedSchema[],
  work: () => Promise<Result>,
): Promise<Result> {
  const [first, ...others] = schemas;
  if (first === undefined) return work();
  return withRotationLock(first.database, first.schema, () => withRotationLocks(others, work));
}

async function rewrapAndRetire(
  database: Database,
  ring: KeyRing,
): Promise<Pick<Rotation, "rewrapped" | "retired">> {
  let rewrapped = 0;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    rewrapped += await rewrapAll(database, ring);
    try {
      return {
        rewrapped,
        retired: await retireKeksExcept(database, ring.schema, ring.primary().id),
      };
    } catch (error) {
      // A service without the new key has just created a company key under the old one.
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
    const batch = await lockKeysUnder(transaction, ring.schema, others, BATCH);
    const changed: { id: string; wrappedKey: Buffer }[] = [];
    for (const wrapped of batch) {
      const key = await unwrapCompanyKey(ring, wrapped);
      changed.push({ id: wrapped.id, wrappedKey: wrapCompanyKey(kek, key, wrapped) });
    }
    if (changed.length > 0) await updateWrapping(transaction, ring.schema, kek.id, changed);
    return changed.length;
  });
}
