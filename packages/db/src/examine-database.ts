import { readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Client, DatabaseError } from "pg";
import { assertPlainName, withSession } from "./connection-uri.ts";
import { sqlStateOf } from "./errors.ts";
import { lacksRoom } from "./lost-room.ts";

/** The database that a service needs, and its required state. */
export interface NeededDatabase {
  connectionUri: string;
  /** The role of the service; the login has to be a member of it. */
  role: string;
  schema: string;
  /** The number of the newest migration in the service's release. */
  migration: number;
}

/** The reason why a database cannot be used. */
export interface DatabaseTrouble {
  /** A text for operators, without a password. */
  message: string;
  /** Whether a running process only reports it and goes on: other processes would fare no better. */
  isOnlyForNewcomers: boolean;
}

const TIMEOUT_MS = 3_000;
/**
 * An internal token lives for two minutes, and its signer uses it for a minute and a half. That
 * leaves 30 s for differences between two clocks: each may be off by half of it.
 */
const CLOCK_OFF_MS_MAX = 15_000;
const GOODBYE_MS = 1_000;
/** Below the time that the answer may take: a table that somebody locks is no database that is away. */
const LOCK_TIMEOUT_MS = 1_000;
/** A lock that others have waited for so long is told. */
const LOCKED_SECONDS_MIN = 2;

const UNDEFINED_TABLE = ["42P01", "3F000"];
const WRONG_LOGIN = ["28000", "28P01"];
const WRONG_DATABASE = "3D000";
/** The role does not exist, the login is no member of it, or it has no rights on the schema. */
const WRONG_ROLE = ["22023", "42501"];
/**
 * The function in Postgres that refuses a session without the right to connect; its name is never
 * translated.
 */
const CONNECT_CHECK = "CheckMyDatabase";
const TOO_MANY_CONNECTIONS = "53300";
const LOCK_NOT_AVAILABLE = "55P03";

/** What one look finds. */
interface Found {
  newest: number | null;
  nowMs: number;
  isReadOnly: boolean;
  isStandby: boolean;
  /** The table whose lock a session has waited for longest, and for how long; null when there is none. */
  lockedTable: string | null;
  lockedSeconds: number | null;
}

function lookOf(schema: string): string {
  return `
    with newest as (
      select max(number) as number from ${schema}.schema_migrations
    ), waited as (
      select class.relname::text as name,
        floor(extract(epoch from clock_timestamp() - min(lock.waitstart)))::integer as seconds
      from pg_locks as lock
      join pg_class as class on class.oid = lock.relation
      where not lock.granted and lock.locktype = 'relation'
        and lock.database = (select oid from pg_database where datname = current_database())
        and class.relnamespace = to_regnamespace('${schema}')
      group by class.relname
      order by min(lock.waitstart)
      limit 1
    )
    select newest.number as newest,
      (extract(epoch from clock_timestamp()) * 1000)::double precision as "nowMs",
      current_setting('transaction_read_only') = 'on' as "isReadOnly",
      pg_is_in_recovery() as "isStandby",
      waited.name as "lockedTable", waited.seconds as "lockedSeconds"
    from newest left join waited on true
  `;
}

/**
 * Checks over a connection of its own whether a service could work with a database; null when it
 * could. A newer schema than needed is fine. Never rejects.
 *
 * @param now the clock of this machine, in milliseconds since the epoch: a machine whose clock is
 * off does not start
 */
export async function examineDatabase(
  needed: NeededDatabase,
  now: () => number = Date.now,
): Promise<DatabaseTrouble | null> {
  assertPlainName(needed.schema, "schema");
  const uri = withSession(needed.connectionUri, {
    applicationName: "readiness",
    role: needed.role,
  });
  const client = new Client({
    connectionString: uri,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  // The statement that was running reports a lost connection too.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const askedAt = now();
    const { rows } = await client.query<Found>(lookOf(needed.schema));
    const [found] = rows;
    const nowMs = found?.nowMs ?? askedAt;
    return (
      outdated(needed, found?.newest ?? 0) ??
      readOnlyTrouble(found) ??
      lockTrouble(needed, found) ??
      roomTrouble(needed) ??
      clockTrouble(nowMs, { from: askedAt, to: now() })
    );
  } catch (error) {
    return explain(needed, error);
  } finally {
    // A connection that was cut cannot be closed properly.
    await Promise.race([
      client.end().catch(() => {}),
      delay(GOODBYE_MS, undefined, { ref: false }),
    ]);
  }
}

/** The number of the newest migration in a folder; see `migrate` for the names of its files. */
export async function newestMigration(directory: string): Promise<number> {
  const names = await readdir(directory);
  return Math.max(
    0,
    ...names.filter((name) => name.endsWith(".sql")).map((name) => parseInt(name, 10)),
  );
}

function outdated({ schema, migration }: NeededDatabase, newest: number): DatabaseTrouble | null {
  if (newest >= migration) return null;
  return trouble(
    `the schema ${schema} has migration ${newest} and this release needs ${migration}: migrate the database`,
  );
}

/** New sessions cannot write; those that are open may still, and reads go on. */
function readOnlyTrouble(found: Found | undefined): DatabaseTrouble | null {
  if (found?.isReadOnly !== true) return null;
  const why = found.isStandby ? "it is a standby" : "default_transaction_read_only is on";
  return { message: `Postgres takes no writes: ${why}`, isOnlyForNewcomers: true };
}

function lockTrouble({ schema }: NeededDatabase, found: Found | undefined): DatabaseTrouble | null {
  const { lockedTable = null, lockedSeconds = null } = found ?? {};
  if (lockedTable === null || (lockedSeconds ?? 0) < LOCKED_SECONDS_MIN) return null;
  return locked(`${schema}.${lockedTable}`);
}

/** Reads go on, and so do writes that find room in the pages that there are. */
function roomTrouble({ connectionUri }: NeededDatabase): DatabaseTrouble | null {
  if (!lacksRoom(connectionUri)) return null;
  return {
    message: "the disk of Postgres is full: a write found no room",
    isOnlyForNewcomers: true,
  };
}

function locked(table: string): DatabaseTrouble {
  const message = `the table ${table} is locked, and sessions wait for it: see pg_locks`;
  return { message, isOnlyForNewcomers: true };
}

/** @param own the time on this machine when Postgres read its clock */
function clockTrouble(nowMs: number, own: { from: number; to: number }): DatabaseTrouble | null {
  const aheadMs = own.from - nowMs;
  const behindMs = nowMs - own.to;
  const offMs = Math.max(aheadMs, behindMs);
  if (offMs <= CLOCK_OFF_MS_MAX) return null;
  const how = aheadMs > 0 ? "ahead of" : "behind";
  const message = `the clock of this machine is ${Math.round(offMs / 1_000)} s ${how} that of Postgres`;
  // A running process goes on: it is unknown whose clock is wrong, and a wrong clock of Postgres
  // would stop all processes.
  return { message, isOnlyForNewcomers: true };
}

function explain({ schema, role }: NeededDatabase, error: unknown): DatabaseTrouble {
  const state = sqlStateOf(error) ?? "";
  if (UNDEFINED_TABLE.includes(state)) {
    return trouble(`the schema ${schema} is not there: migrate the database`);
  }
  if (WRONG_LOGIN.includes(state)) return trouble("DATABASE_URL: its login is refused");
  if (state === WRONG_DATABASE) return trouble("DATABASE_URL: there is no such database");
  if (WRONG_ROLE.includes(state) && isAtConnect(error)) {
    return trouble(
      "DATABASE_URL: its login may not connect to the database; grant connect on the database to it",
    );
  }
  if (WRONG_ROLE.includes(state)) {
    return trouble(
      `DATABASE_URL: its login may not act as ${role} in the schema ${schema}; make it a member of that role`,
    );
  }
  if (state === TOO_MANY_CONNECTIONS) {
    return { message: "Postgres has no connection free", isOnlyForNewcomers: true };
  }
  if (state === LOCK_NOT_AVAILABLE) return locked(`${schema}.schema_migrations`);
  return trouble(`Postgres cannot be reached (${state === "" ? codeOf(error) : state})`);
}

function trouble(message: string): DatabaseTrouble {
  return { message, isOnlyForNewcomers: false };
}

function isAtConnect(error: unknown): boolean {
  return error instanceof DatabaseError && error.routine === CONNECT_CHECK;
}

/** Messages of the driver may contain addresses; codes do not. */
function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "no answer in time";
}
