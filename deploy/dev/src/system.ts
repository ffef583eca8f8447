import { join } from "node:path";
import { openDatabase } from "@workflow/db";
import { createScope } from "@workflow/service";
import type { Scope } from "@workflow/service";
import { ensureFirstCompany } from "@workflow/service-gateway/admin";
import type { FirstCompany } from "@workflow/service-gateway/admin";
import { lockDataDir } from "./data-dir-lock.ts";
import { prepareDataDir } from "./data-dir.ts";
import { ensureSigningKeys, secretsKeksLoader } from "./keys.ts";
import { migrateAll } from "./migrations.ts";
import { assertPortsFree } from "./ports.ts";
import { startEmbeddedPostgres } from "./postgres.ts";
import { openServiceLog } from "./service-log.ts";
import type { ServiceLog } from "./service-log.ts";
import { openServiceLogins } from "./service-logins.ts";
import type { DatabaseUrlOf } from "./service-logins.ts";
import { startServices } from "./services.ts";
import type { Settings } from "./settings.ts";
import { codeOf, explain, StartError } from "./start-error.ts";

/** A short admin command may hold the data folder; that is worth this wait. */
const ADMIN_WAIT_MS = 30_000;
const DATABASE_USERS = 8;

export interface SystemOptions {
  /** What the log begins with. */
  warnings: readonly string[];
  /** Gives up a start that is under way. */
  signal: AbortSignal;
  /** Shows an error of a service to the person in front of the terminal. */
  showError: (text: string) => void;
}

/** The whole system in one process. */
export interface System {
  /** Where the services write their logs. */
  logFile: string;
  /** Made in a database without any company; shown once, never stored in clear. */
  firstCompany: FirstCompany | null;
  /** Rejects when the system cannot go on. Never resolves. */
  lost: Promise<never>;
  /** Finishes what is under way and stops every part, Postgres last. */
  stop(): Promise<void>;
}

/**
 * Starts everything: the data folder, Postgres unless DATABASE_URL names one, migrations, services.
 * Rejects, leaving nothing behind, when a part of it cannot start.
 */
export async function startSystem(settings: Settings, options: SystemOptions): Promise<System> {
  const scope = createScope();
  return scope.guard(async () => {
    const dataDir = await prepareDataDir(settings.DATA_DIR);
    const start = () => startInDataDir(dataDir, settings, options, scope);
    return start().catch((error: unknown) => {
      throw isFull(error) ? diskFull(dataDir, error) : error;
    });
  });
}

/** Such an error of Node's names neither file nor folder. */
function isFull(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT"].includes(codeOf(error) ?? "");
}

function diskFull(dataDir: string, cause: unknown): StartError {
  return new StartError(`DATA_DIR: there is no space left for ${dataDir} (${codeOf(cause)}).`, {
    cause,
  });
}

async function startInDataDir(
  dataDir: string,
  settings: Settings,
  options: SystemOptions,
  scope: Scope,
): Promise<System> {
  const { signal } = options;
  await holdDataDir(dataDir, signal, scope);
  await assertPortsFree(settings);
  const logFile = join(dataDir, "logs", "service.log");
  const { LOG_LEVEL: level } = settings;
  const log = openServiceLog({ file: logFile, level, show: options.showError });
  scope.defer(() => log.close());
  for (const line of options.warnings) log.loggerOf("settings").warn(line);
  const signingKeys = await ensureSigningKeys(settings.INTERNAL_TOKEN_PRIVATE_KEY, dataDir);
  const loadSecretsKeks = await secretsKeksLoader(settings.SECRETS_KEK, dataDir);
  const { databaseUrl, lost } = await startDatabase(settings, dataDir, log, signal, scope);
  signal.throwIfAborted();
  await migrateDatabase(databaseUrl, settings);
  signal.throwIfAborted();
  const databaseUrlOf = await loginsFor(settings, databaseUrl);
  await startServices(settings, { databaseUrlOf, signingKeys, loadSecretsKeks, log }, scope);
  signal.throwIfAborted();
  // Last, so that nothing can come between its making and its showing.
  const firstCompany = await makeFirstCompany(databaseUrlOf("gateway"));
  return { logFile, firstCompany, lost, stop: () => scope.close() };
}

async function holdDataDir(dataDir: string, signal: AbortSignal, scope: Scope): Promise<void> {
  const lock = await lockDataDir(dataDir, {
    command: "npm start",
    waitMs: ADMIN_WAIT_MS,
    isWorthWaitingFor: ({ command }) => command !== "npm start",
    signal,
  });
  scope.defer(() => lock.release());
}

async function startDatabase(
  settings: Settings,
  dataDir: string,
  log: ServiceLog,
  signal: AbortSignal,
  scope: Scope,
): Promise<{ databaseUrl: string; lost: Promise<never> }> {
  if (settings.DATABASE_URL !== undefined) {
    return { databaseUrl: settings.DATABASE_URL, lost: new Promise<never>(() => {}) };
  }
  const postgres = await startEmbeddedPostgres({
    dataDir,
    connectionsMax: settings.DATABASE_POOL_SIZE * DATABASE_USERS,
    logger: log.loggerOf("postgres"),
    signal,
  });
  scope.defer(() => postgres.stop());
  return { databaseUrl: postgres.connectionUri, lost: postgres.lost };
}

/** The login of DATABASE_URL acts as each service's role; in the embedded Postgres each has its own. */
async function loginsFor(settings: Settings, databaseUrl: string): Promise<DatabaseUrlOf> {
  return settings.DATABASE_URL === undefined ? openServiceLogins(databaseUrl) : () => databaseUrl;
}

async function migrateDatabase(databaseUrl: string, settings: Settings): Promise<void> {
  try {
    await migrateAll(databaseUrl);
  } catch (error) {
    const where = settings.DATABASE_URL === undefined ? "The database" : "DATABASE_URL: it";
    throw new StartError(`${where} could not be brought up to date: ${explain(error)}`, {
      cause: error,
    });
  }
}

async function makeFirstCompany(databaseUrl: string): Promise<FirstCompany | null> {
  const database = await openDatabase({
    connectionUri: databaseUrl,
    role: "workflow_gateway",
    maxConnections: 1,
    applicationName: "first-company",
  });
  try {
    return await ensureFirstCompany(database);
  } finally {
    await database.end();
  }
}
