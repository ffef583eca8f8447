import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client, DatabaseError } from "pg";
import { assertPlainName, withSession } from "./connection-uri.ts";
import { prepareSchema } from "./prepare-schema.ts";

/** One service's share of the database. */
export interface ServiceSchema {
  schema: string;
  /** The role of the service; created when missing, without login. */
  role: string;
  /** Absolute path of the folder with the files `NNNN_name.sql`. */
  directory: string;
}

export interface MigrationLogger {
  info(fields: Record<string, unknown>, message: string): void;
}

export interface MigrateOptions {
  /** A user who may create schemas and roles, and owns what the files create. */
  connectionUri: string;
  services: ServiceSchema[];
  logger?: MigrationLogger;
}

export interface AppliedMigration {
  schema: string;
  file: string;
}

interface MigrationFile {
  number: number;
  name: string;
  sha256: string;
  text: string;
}

/** An arbitrary constant: its holder migrates this database. */
const LOCK_KEY = 7_320_419_022_301;
const LOCK_POLL_MS = 100;
/**
 * A migration that waits for a lock delays every query behind it, so it fails early and is run
 * again.
 */
const LOCK_TIMEOUT = "30s";
const SERVER_VERSION_MIN = 160_000;

/**
 * Migrates the schemas of the services and returns the applied files. Concurrent calls wait for
 * each other. Files that are recorded in the database but missing in the folder belong to a newer
 * release and are ignored.
 *
 * @throws Error naming the file when an applied file was changed, when its number is below an
 * applied one, when its name is not `NNNN_name.sql`, or when its SQL fails (the files before it
 * stay applied)
 */
export async function migrate(options: MigrateOptions): Promise<AppliedMigration[]> {
  const client = new Client({
    connectionString: withSession(options.connectionUri, { applicationName: "migrate" }),
  });
  // The statement that was running reports a lost connection too.
  client.on("error", () => {});
  await client.connect();
  try {
    await assertServerVersion(client);
    await acquireLock(client);
    const applied: AppliedMigration[] = [];
    for (const service of options.services) {
      for (const file of await migrateService(client, service)) {
        options.logger?.info({ schema: service.schema, file }, "migration applied");
        applied.push({ schema: service.schema, file });
      }
    }
    return applied;
  } finally {
    await client.end().catch(() => {});
  }
}

async function migrateService(client: Client, service: ServiceSchema): Promise<string[]> {
  assertPlainName(service.schema, "schema");
  assertPlainName(service.role, "role");
  const files = await readMigrations(service.directory);
  await prepareSchema(client, service.schema, service.role);
  const recorded = await readRecorded(client, service.schema);
  const highest = Math.max(0, ...recorded.keys());
  const applied: string[] = [];
  for (const file of files) {
    const sha256 = recorded.get(file.number);
    if (sha256 === undefined) {
      if (file.number < highest) {
        throw new Error(`${pathOf(service, file)} is new but numbered below ${highest}.`);
      }
      await apply(client, service, file);
      applied.push(file.name);
    } else if (sha256 !== file.sha256) {
      throw new Error(`${pathOf(service, file)} was changed after it had been applied.`);
    }
  }
  return applied;
}

async function apply(client: Client, service: ServiceSchema, file: MigrationFile): Promise<void> {
  const inTransaction = !file.text.startsWith("-- no-transaction");
  try {
    if (inTransaction) await client.query("begin");
    // Unqualified names in a file belong to the service's own schema.
    await client.query(`set ${inTransaction ? "local " : ""}search_path to ${service.schema}`);
    await client.query(`set ${inTransaction ? "local " : ""}lock_timeout to '${LOCK_TIMEOUT}'`);
    if (!inTransaction) await dropLeftOverIndex(client, service, file);
    await client.query(file.text);
    await client.query(
      `insert into ${service.schema}.schema_migrations (number, name, sha256) values ($1, $2, $3)`,
      [file.number, file.name, file.sha256],
    );
    await client.query(inTransaction ? "commit" : "reset all");
  } catch (error) {
    await client.query(inTransaction ? "rollback" : "reset all").catch(() => {});
    throw new Error(`${pathOf(service, file)} failed: ${explain(error, file.text)}`, {
      cause: error,
    });
  }
}

/** A run that was killed may have left the index of an unrecorded file behind, invalid or whole. */
async function dropLeftOverIndex(
  client: Client,
  { schema }: ServiceSchema,
  { text }: MigrationFile,
): Promise<void> {
  const name = /^create (?:unique )?index concurrently (\w+)/im.exec(text)?.[1];
  if (name !== undefined) await client.query(`drop index concurrently if exists ${schema}.${name}`);
}

async function readMigrations(directory: string): Promise<MigrationFile[]> {
  const files: MigrationFile[] = [];
  for (const name of (await readdir(directory)).toSorted()) {
    if (!name.endsWith(".sql")) continue;
    const number = /^(\d{4})_[a-z0-9_-]+\.sql$/.exec(name)?.[1];
    if (number === undefined) throw new Error(`${join(directory, name)} is not NNNN_name.sql.`);
    const text = await readFile(join(directory, name), "utf8");
    const sha256 = createHash("sha256").update(text).digest("hex");
    if (files.at(-1)?.number === Number(number)) {
      throw new Error(`${join(directory, name)} has the number of another file.`);
    }
    files.push({ number: Number(number), name, sha256, text });
  }
  return files;
}

async function readRecorded(client: Client, schema: string): Promise<Map<number, string>> {
  const { rows } = await client.query<{ number: number; sha256: string }>(
    `select number, sha256 from ${schema}.schema_migrations`,
  );
  return new Map(rows.map((row) => [row.number, row.sha256]));
}

/**
 * Polls, because a statement that waits in the server holds a snapshot, and `create index
 * concurrently` of the lock's holder would wait for that snapshot.
 */
async function acquireLock(client: Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>(
      "select pg_try_advisory_lock($1) as locked",
      [LOCK_KEY],
    );
    if (rows[0]?.locked === true) return;
    await delay(LOCK_POLL_MS);
  }
}

async function assertServerVersion(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  );
  const version = rows[0]?.version ?? 0;
  if (version < SERVER_VERSION_MIN) {
    throw new Error(`Postgres 16 or newer is needed; this server is ${version}.`);
  }
}

function explain(error: unknown, text: string): string {
  if (!(error instanceof DatabaseError)) return String(error);
  const position = Number(error.position ?? Number.NaN);
  if (Number.isNaN(position)) return error.message;
  return `${error.message} (line ${text.slice(0, position).split("\n").length})`;
}

function pathOf(service: ServiceSchema, file: MigrationFile): string {
  return join(service.directory, file.name);
}
