import { readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Client, DatabaseError } from "pg";
import { assertPlainName, withSession } from "./connection-uri.ts";
import { sqlStateOf } from "./errors.ts";

/** Which database a service needs, and in which state. */
export interface NeededDatabase {
  connectionUri: string;
  /** The role that the service acts as; the login has to be a member of it. */
  role: string;
  schema: string;
  /** The number of the newest migration that the service's release knows. */
  migration: number;
}

/** Why a database cannot be used. */
export interface DatabaseTrouble {
  /** In words, for operators; holds no password. */
  message: string;
  /** Whether a process with connections of its own can go on all the same. */
  isOnlyForNewcomers: boolean;
}

const TIMEOUT_MS = 3_000;
/**
 * An internal token lives for two minutes, of which its signer uses it for a minute and a half. So 30 s between two
 * machines always pass, and two that are off by half of it in opposite directions.
 */
const CLOCK_OFF_MS_MAX = 15_000;
const GOODBYE_MS = 1_000;

const UNDEFINED_TABLE = ["42P01", "3F000"];
const WRONG_LOGIN = ["28000", "28P01"];
const WRONG_DATABASE = "3D000";
/** A role that is not there, one that the login is no member of, one without rights on the schema. */
const WRONG_ROLE = ["22023", "42501"];
/** The function of Postgres that refuses a session for want of the right to connect; translated nowhere. */
const CONNECT_CHECK = "CheckMyDatabase";
const TOO_MANY_CONNECTIONS = "53300";

/**
 * Looks whether a service could work with a database, over a connection of its own; null when it
 * could. A schema that is newer than needed is fine. Never rejects.
 *
 * @param now the clock of this machine, in milliseconds since the epoch: one that is set off does not start
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
  // A lost connection is also reported by the statement that was under way.
  client.on("error", () => {});
  try {
    await client.connect();
    const askedAt = now();
    const { rows } = await client.query<{ newest: number | null; nowMs: number }>(
      `select max(number) as newest,
        (extract(epoch from clock_timestamp()) * 1000)::double precision as "nowMs"
      from ${needed.schema}.schema_migrations`,
    );
    const { newest = null, nowMs = askedAt } = rows[0] ?? {};
    return outdated(needed, newest ?? 0) ?? clockTrouble(nowMs, { from: askedAt, to: now() });
  } catch (error) {
    return explain(needed, error);
  } finally {
    // A connection that is cut takes no leave.
    await Promise.race([
      client.end().catch(() => {}),
      delay(GOODBYE_MS, undefined, { ref: false }),
    ]);
  }
}

/** The number of the newest migration of a folder; see `migrate` for the names of its files. */
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

/** @param own when Postgres has looked at its clock, by that of this machine */
function clockTrouble(nowMs: number, own: { from: number; to: number }): DatabaseTrouble | null {
  const aheadMs = own.from - nowMs;
  const behindMs = nowMs - own.to;
  const offMs = Math.max(aheadMs, behindMs);
  if (offMs <= CLOCK_OFF_MS_MAX) return null;
  const how = aheadMs > 0 ? "ahead of" : "behind";
  const message = `the clock of this machine is ${Math.round(offMs / 1_000)} s ${how} that of Postgres`;
  // Of those that run nobody knows whose clock is wrong: Postgres' own would stop all of them.
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
  return trouble(`Postgres cannot be reached (${state === "" ? codeOf(error) : state})`);
}

function trouble(message: string): DatabaseTrouble {
  return { message, isOnlyForNewcomers: false };
}

function isAtConnect(error: unknown): boolean {
  return error instanceof DatabaseError && error.routine === CONNECT_CHECK;
}

/** Messages of the driver may hold addresses, codes do not. */
function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "no answer in time";
}
