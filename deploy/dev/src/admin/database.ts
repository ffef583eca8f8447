import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { findLocalPostgres, startLocalPostgres } from "@workflow/local-postgres";
import { Client } from "pg";
import { prepareDataDir } from "../data-dir.ts";
import { describeHolder, isSystemCommand, tryLockDataDir } from "../data-dir-lock.ts";
import { migrateAll } from "../migrations.ts";
import { explain, StartError } from "../start-error.ts";
import type { AdminSettings } from "./settings.ts";

const POLL_MS = 100;
/** How long to wait for a system that is starting or stopping, or for another admin command. */
const WAIT_MS = 60_000;

/** Runs work on the system's database in the role of the gateway or of another service. */
export async function withDatabase<Result>(
  settings: AdminSettings,
  work: (database: Database) => Promise<Result>,
  role = "workflow_gateway",
): Promise<Result> {
  return withMigratedPostgres(settings, (connectionUri) => withRole(connectionUri, role, work));
}

/** Runs work on the system's Postgres once its tables exist. */
export async function withMigratedPostgres<Result>(
  settings: AdminSettings,
  work: (connectionUri: string) => Promise<Result>,
): Promise<Result> {
  return withPostgres(settings, async (connectionUri) => {
    await assertMigrated(connectionUri);
    return work(connectionUri);
  });
}

/** Runs work on a database in one of its roles. */
export async function withRole<Result>(
  connectionUri: string,
  role: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase({
    connectionUri,
    role,
    maxConnections: 2,
    applicationName: "admin",
  });
  try {
    return await work(database);
  } finally {
    await database.end();
  }
}

/**
 * Runs work on the system's Postgres: that of DATABASE_URL, the embedded one of a running `npm start`, or a stopped
 * one. A stopped one is started, migrated and stopped again.
 */
export async function withPostgres<Result>(
  settings: AdminSettings,
  work: (connectionUri: string) => Promise<Result>,
): Promise<Result> {
  if (settings.DATABASE_URL !== undefined) return work(settings.DATABASE_URL);
  const dataDir = await prepareDataDir(settings.DATA_DIR);
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const lock = await tryLockDataDir(dataDir, "npm run admin");
    if ("release" in lock) {
      try {
        return await withStoppedSystem(dataDir, work);
      } finally {
        await lock.release();
      }
    }
    // The Postgres of another admin command may stop at any moment. That of a running system stays.
    const running = isSystemCommand(lock.holder?.command) ? await findMigrated(dataDir) : null;
    if (running !== null) return work(running);
    if (Date.now() >= deadline) {
      throw new StartError(
        `${describeHolder(lock.holder)} holds ${dataDir} but its Postgres does not answer.`,
      );
    }
    await delay(POLL_MS);
  }
}

async function withStoppedSystem<Result>(
  dataDir: string,
  work: (connectionUri: string) => Promise<Result>,
): Promise<Result> {
  const postgres = await startLocalPostgres({ dataDir });
  try {
    await migrateAll(postgres.connectionUri);
    return await work(postgres.connectionUri);
  } finally {
    await postgres.stop();
  }
}

/** Finds the Postgres of a running system whose tables exist. */
async function findMigrated(dataDir: string): Promise<string | null> {
  const running = await findLocalPostgres(dataDir);
  if (running === null) return null;
  return (await isMigrated(running.connectionUri)) ? running.connectionUri : null;
}

async function assertMigrated(connectionUri: string): Promise<void> {
  if (await isMigrated(connectionUri)) return;
  throw new StartError("The database has no tables yet. Make them with: npm run admin -- migrate");
}

async function isMigrated(connectionUri: string): Promise<boolean> {
  const client = new Client({ connectionString: connectionUri, application_name: "admin" });
  // The statement under way also reports a lost connection.
  client.on("error", () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query(
      "select from pg_tables where schemaname = 'gateway' and tablename = 'companies'",
    );
    return rowCount === 1;
  } catch (error) {
    throw new StartError(`The database cannot be reached: ${explain(error)}`, { cause: error });
  } finally {
    await client.end().catch(() => {});
  }
}
