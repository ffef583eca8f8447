import type { Database } from "@workflow/db";
import { ConfigError } from "@workflow/service";
import { listUsedKeksExcept, registerKek } from "./store/keks.ts";
import { createKeyRing } from "./key-ring.ts";
import type { KeyRing, LoadKeks, SealingSchema } from "./key-ring.ts";

/**
 * Opens the key ring of a schema. Its keys open everything that is stored, and the first one can wrap company keys.
 * @throws ConfigError naming SECRETS_KEK when a key is missing
 */
export async function openKeyRing(
  database: Database,
  schema: SealingSchema,
  load: LoadKeks,
): Promise<KeyRing> {
  const ring = await createKeyRing(schema, load);
  await assertComplete(database, ring);
  await registerKek(database, schema, ring.primary().id);
  return ring;
}

/** @throws ConfigError when company keys are wrapped with a key that the ring lacks */
export async function assertComplete(database: Database, ring: KeyRing): Promise<void> {
  const missing = await listUsedKeksExcept(database, ring.schema, ring.ids());
  if (missing.length === 0) return;
  const message =
    `secrets in the database are encrypted with another key (id ${missing.join(", ")}); ` +
    `given: ${ring.ids().join(", ")}`;
  throw new ConfigError([{ setting: "SECRETS_KEK", message }]);
}
