import { deepStrictEqual } from "node:assert";
import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { migrate, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { Client } from "pg";
import { z } from "zod";
import { POSTGRES } from "../../partitions/cuts.ts";
import { layNetwork } from "../../partitions/network.ts";
import type { Network } from "../../partitions/network.ts";
import { startPostgres } from "../../partitions/postgres.ts";

/*
 * Started in namespaces of its own: cuts the link between Postgres and a process that has a session of each kind,
 * and writes what the server has done about them as JSON. The own link of this program is never cut.
 */

/** The name of this program's own sessions. */
const OWN = "test";
const CLIENT = "client";
const CLIENT_PROGRAM = join(import.meta.dirname, "vanishing-client-process.ts");
/** Statements that are under way while the link is cut wait for this advisory lock. */
const GATE = "77";
/** Six times the limit of a session, and less than a fifth of what a server waits by itself. */
const PATIENCE_MS = 180_000;

/** The state of each session when the link is cut, by the session's name. */
const CUT_OFF: Readonly<Record<string, string>> = {
  idle: "idle",
  "in transaction": "idle in transaction",
  listen: "idle",
  migrate: "active, Lock",
  sending: "active, Lock",
};

const scope = createScope();
try {
  process.stdout.write(JSON.stringify(await cutOff(scope)));
} finally {
  await scope.close();
}

async function cutOff(scope: Scope): Promise<Record<string, unknown>> {
  const network = await layNetwork([POSTGRES, CLIENT]);
  const connectionUri = await startPostgres(join(tmpdir(), "server"), network, scope);
  const database = await openDatabase({ connectionUri, applicationName: OWN });
  scope.defer(() => database.end());
  await database.any(sql.unsafe`create table held (id integer primary key, changes integer)`);
  await database.any(sql.unsafe`insert into held select unnest(array[1, 2, 3]), 0`);
  const migrations = await writeMigration();

  const gate = new Client({ connectionString: connectionUri, application_name: OWN });
  await gate.connect();
  await gate.query(`select pg_advisory_lock(${GATE})`);
  startClient(network, [connectionUri, GATE, migrations], scope);
  await untilCutOff(database);
  const heldBefore = await heldRows(database);
  await network.cut(CLIENT, POSTGRES);
  await network.cut(POSTGRES, CLIENT);
  // From here on nobody hears what becomes of the statements.
  await gate.end();
  const left = await untilGone(database);
  const heldAfter = await heldRows(database);
  const migrated = left.includes("migrate") ? [] : await migrateAgain(connectionUri, migrations);
  return { heldBefore, left, heldAfter, migrated };
}

/** A migration that locks a row, and waits for the gate. */
async function writeMigration(): Promise<string> {
  const folder = join(tmpdir(), "migrations");
  await mkdir(folder);
  const lines = [
    "update public.held set changes = changes + 1 where id = 3;",
    `select pg_advisory_xact_lock_shared(${GATE});`,
  ];
  await writeFile(join(folder, "0001_change.sql"), lines.join("\n"));
  return folder;
}

function startClient(network: Network, args: readonly string[], scope: Scope): void {
  const [program = "", ...before] = network.launcherOf(CLIENT);
  const client = spawn(program, [...before, process.execPath, CLIENT_PROGRAM, ...args], {
    stdio: ["ignore", 2, 2],
  });
  scope.defer(() => void client.kill("SIGKILL"));
}

/** Waits until each session is in the state in which it is cut off. */
async function untilCutOff(database: Database): Promise<void> {
  const check = async (): Promise<void> => deepStrictEqual(await sessionsOf(database), CUT_OFF);
  await waitFor(check, { timeoutMs: PATIENCE_MS, what: "a session of each kind" });
}

/** The names of the sessions that the server still has when patience ends. */
async function untilGone(database: Database): Promise<string[]> {
  let left: string[] = [];
  const look = async (): Promise<boolean> => {
    left = Object.keys(await sessionsOf(database));
    return left.length === 0;
  };
  await waitFor(look, { timeoutMs: PATIENCE_MS, intervalMs: 250 }).catch(() => {});
  return left;
}

async function sessionsOf(database: Database): Promise<Record<string, string>> {
  const session = z.object({ name: z.string(), state: z.string() });
  const rows = await database.any(sql.type(session)`
    select application_name as name,
      concat_ws(', ', state, case when state = 'active' then wait_event_type end) as state
    from pg_stat_activity
    where backend_type = 'client backend' and application_name <> ${OWN}
    order by application_name collate "C"
  `);
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
}

/** The rows that nobody else can change now. */
async function heldRows(database: Database): Promise<number[]> {
  const rows = await database.any(sql.type(z.object({ id: z.number() }))`
    select id from held
    where id not in (select id from held for update skip locked)
    order by id
  `);
  return rows.map(({ id }) => id);
}

async function migrateAgain(connectionUri: string, directory: string): Promise<string[]> {
  const services = [{ schema: "vanishing", role: "vanishing", directory }];
  const applied = await migrate({ connectionUri, services });
  return applied.map(({ file }) => file);
}
