import { join } from "node:path";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { explainFullDisk, layFoundation, makeFirstCompany } from "./foundation.ts";
import type { System, SystemOptions } from "./foundation.ts";
import { ensureSigningKeys, secretsKeksLoader } from "./keys.ts";
import { assertPortsFree } from "./ports.ts";
import { startServices } from "./services.ts";
import type { Settings } from "./settings.ts";

const DATABASE_USERS = 8;

/**
 * Starts the whole system in this process: data folder, Postgres unless DATABASE_URL names one, migrations,
 * services. When one of them fails, it rejects and leaves nothing behind.
 */
export async function startSystem(settings: Settings, options: SystemOptions): Promise<System> {
  const scope = createScope();
  return scope.guard(() =>
    startParts(settings, options, scope).catch((error: unknown) => {
      throw explainFullDisk(error, settings);
    }),
  );
}

async function startParts(
  settings: Settings,
  options: SystemOptions,
  scope: Scope,
): Promise<System> {
  const { signal } = options;
  const foundation = await layFoundation(
    settings,
    {
      ...options,
      command: "npm start",
      connectionsMax: settings.DATABASE_POOL_SIZE * DATABASE_USERS,
      check: () => assertPortsFree(settings),
    },
    scope,
  );
  const { dataDir, databaseUrlOf, log, logFile, lost } = foundation;
  const signingKeys = await ensureSigningKeys(settings.INTERNAL_TOKEN_PRIVATE_KEY, dataDir);
  const loadSecretsKeks = await secretsKeksLoader(settings.SECRETS_KEK, dataDir);
  const infrastructure = { databaseUrlOf, signingKeys, loadSecretsKeks, log };
  await startServices(withSpill(settings, dataDir), infrastructure, scope);
  signal.throwIfAborted();
  // The first company is made last, so that nothing can fail between its making and its showing.
  const firstCompany = await makeFirstCompany(databaseUrlOf("gateway"));
  return { logFile, firstCompany, lost, stop: () => scope.close() };
}

/** The data folder is on a disk; the machine's folder for temporary files may be in memory. */
function withSpill(settings: Settings, dataDir: string): Settings {
  return { ...settings, TABLES_SPILL_DIR: settings.TABLES_SPILL_DIR ?? join(dataDir, "spill") };
}
