import { join, resolve } from "node:path";
import type { Scope } from "@workflow/async";
import { openDatabase } from "@workflow/db";
import { ensureFirstCompany } from "@workflow/service-gateway/admin";
import type { FirstCompany } from "@workflow/service-gateway/admin";
import { isSystemCommand, lockDataDir } from "./data-dir-lock.ts";
import type { SystemCommand } from "./data-dir-lock.ts";
import { prepareDataDir } from "./data-dir.ts";
import { migrateAll } from "./migrations.ts";
import { startEmbeddedPostgres } from "./postgres.ts";
import { openServiceLog } from "./service-log.ts";
import type { ServiceLog } from "./service-log.ts";
import { openServiceLogins } from "./service-logins.ts";
import type { DatabaseUrlOf } from "./service-logins.ts";
import type { Settings } from "./settings.ts";
import { codeOf, explain, StartError } from "./start-error.ts";

/** How long a start waits for a short admin command that holds the data folder. */
const ADMIN_WAIT_MS = 30_000;

/** Options that every way to start a system has. */
export interface SystemOptions {
  /** The first lines of the log. */
  warnings: readonly string[];
  /** Aborts a start that is under way. */
  signal: AbortSignal;
  /** Shows an error of a service to the person at the terminal. */
  showError: (text: string) => void;
}

/** A running system. */
export interface System {
  /** The file with the logs of all services. */
  logFile: string;
  /**
   * The company made in an empty database. Its secrets are shown once and never stored in clear.
   */
  firstCompany: FirstCompany | null;
  /** Rejects when the system cannot go on. Never resolves. */
  lost: Promise<never>;
  /** Finishes what is under way and stops every part, Postgres last. */
  stop(): Promise<void>;
}

/** Everything that services need before they can start. */
export interface Foundation {
  /** The data folder's absolute path. */
  dataDir: string;
  logFile: string;
  log: ServiceLog;
  databaseUrlOf: DatabaseUrlOf;
  /** Rejects when the embedded Postgres is gone for good. Never resolves. */
  lost: Promise<never>;
}

export interface FoundationOptions extends SystemOptions {
  command: SystemCommand;
  /** The highest number of connections of all services together. */
  connectionsMax: number;
  /** Checks all needs before anything is started. */
  check: () => Promise<void>;
}

/**
 * Locks the data folder, opens the log, starts Postgres unless DATABASE_URL names one, and migrates. The scope
 * closes each of them.
 * @throws StartError when one of them fails
 */
export async function layFoundation(
  settings: Settings,
  options: FoundationOptions,
  scope: Scope,
): Promise<Foundation> {
  const { signal } = options;
  const dataDir = await prepareDataDir(settings.DATA_DIR);
  await holdDataDir(dataDir, options, scope);
  await options.check();
  const logFile = join(dataDir, "logs", "service.log");
  const { LOG_LEVEL: level } = settings;
  const log = openServiceLog({ file: logFile, level, show: options.showError });
  scope.defer(() => log.close());
  for (const line of options.warnings) log.loggerOf("settings").warn(line);
  const place = { dataDir, log, options };
  const { databaseUrl, lost } = await startDatabase(settings, place, scope);
  signal.throwIfAborted();
  await migrateDatabase(databaseUrl, settings);
  signal.throwIfAborted();
  return { dataDir, logFile, log, databaseUrlOf: await loginsFor(settings, databaseUrl), lost };
}

/** Adds the folder to an error of a full disk. */
export function explainFullDisk(error: unknown, settings: Settings): unknown {
  if (!isFull(error)) return error;
  const folder = resolve(settings.DATA_DIR);
  return new StartError(`DATA_DIR: there is no space left for ${folder} (${codeOf(error)}).`, {
    cause: error,
  });
}

/** Node's error of a full disk names neither file nor folder. */
function isFull(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT"].includes(codeOf(error) ?? "");
}

async function holdDataDir(
  dataDir: string,
  { command, signal }: FoundationOptions,
  scope: Scope,
): Promise<void> {
  const lock = await lockDataDir(dataDir, {
    command,
    waitMs: ADMIN_WAIT_MS,
    isWorthWaitingFor: (holder) => !isSystemCommand(holder.command),
    signal,
  });
  scope.defer(() => lock.release());
}

async function startDatabase(
  settings: Settings,
  place: { dataDir: string; log: ServiceLog; options: FoundationOptions },
  scope: Scope,
): Promise<{ databaseUrl: string; lost: Promise<never> }> {
  if (settings.DATABASE_URL !== undefined) {
    return { databaseUrl: settings.DATABASE_URL, lost: new Promise<never>(() => {}) };
  }
  const postgres = await startEmbeddedPostgres({
    dataDir: place.dataDir,
    connectionsMax: place.options.connectionsMax,
    logger: place.log.loggerOf("postgres"),
    signal: place.options.signal,
  });
  scope.defer(() => postgres.stop());
  return { databaseUrl: postgres.connectionUri, lost: postgres.lost };
}

/**
 * The logins of services. The login of DATABASE_URL acts as each service's role; in the embedded Postgres each has
 * its own.
 */
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

/** Creates a company in a database that has none. */
export async function makeFirstCompany(databaseUrl: string): Promise<FirstCompany | null> {
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
