import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { LocalPostgres } from "@workflow/local-postgres";
import { waitFor } from "@workflow/testkit";
import { Client } from "pg";

/** The name under which a standby follows its primary. */
const STANDBY = "standby";

/** A Postgres server in a folder of its own. */
export interface DatabaseServer {
  postgres: LocalPostgres;
  dataDir: string;
  /** One statement as the superuser; its rows. */
  ask<Row extends object>(text: string): Promise<Row[]>;
  /** Ends it as a crash of its machine would. */
  crash(): Promise<void>;
  /** Ends it in an orderly way, or does nothing when it has ended. */
  stop(): Promise<void>;
  /** Starts it again, as a standby that finds no primary. */
  startAlone(): Promise<DatabaseServer>;
}

/** A server that standbys can follow. */
export async function startPrimary(): Promise<DatabaseServer> {
  const dataDir = await mkdtemp(join(tmpdir(), "primary-"));
  return serverOf(
    dataDir,
    await startLocalPostgres({ dataDir, settings: { wal_keep_size: "512MB" } }),
  );
}

/** Copies a server while it works, and starts the copy as a standby that follows it by streaming. */
export async function startStandby(primary: DatabaseServer): Promise<DatabaseServer> {
  const dataDir = await mkdtemp(join(tmpdir(), "standby-"));
  const client = await connect(primary.postgres);
  try {
    await client.query("select pg_backup_start('standby', fast => true)");
    await cp(primary.dataDir, dataDir, { recursive: true, filter: (path) => !isOfProcess(path) });
    const { rows } = await client.query<{ labelfile: string }>(
      "select labelfile from pg_backup_stop(wait_for_archive => false)",
    );
    await writeFile(join(dataDir, "pgdata/backup_label"), rows[0]?.labelfile ?? "");
    await writeFile(join(dataDir, "pgdata/standby.signal"), "");
  } finally {
    await client.end();
  }
  const { password } = new URL(primary.postgres.connectionUri);
  const { port } = primary.postgres;
  const follow = `host=127.0.0.1 port=${port} user=postgres password=${password} application_name=${STANDBY}`;
  const postgres = await startLocalPostgres({ dataDir, settings: { primary_conninfo: follow } });
  const standby = serverOf(dataDir, postgres);
  try {
    await waitFor(
      async () =>
        (await primary.ask("select 1 from pg_stat_replication where state = 'streaming'")).length >
        0,
      { what: "the standby to follow" },
    );
    return standby;
  } catch (error) {
    await removeServer(standby);
    throw error;
  }
}

/** Lets a primary confirm a commit once its standby has it, and waits until it does. */
export async function replicateSynchronously(primary: DatabaseServer): Promise<void> {
  await primary.ask(`alter system set synchronous_standby_names = '${STANDBY}'`);
  await primary.ask("select pg_reload_conf()");
  await waitFor(
    async () =>
      (await primary.ask("select 1 from pg_stat_replication where sync_state = 'sync'")).length > 0,
    { what: "synchronous replication" },
  );
}

/** Makes a standby the primary. */
export async function promote(standby: DatabaseServer): Promise<void> {
  await standby.ask("select pg_promote(wait => true)");
}

function serverOf(dataDir: string, postgres: LocalPostgres): DatabaseServer {
  return {
    postgres,
    dataDir,
    async ask<Row extends object>(text: string) {
      const client = await connect(postgres);
      try {
        return (await client.query<Row>(text)).rows;
      } finally {
        await client.end();
      }
    },
    async crash() {
      process.kill(postgres.pid, "SIGKILL");
      await postgres.exited;
    },
    async stop() {
      await postgres.stop();
    },
    async startAlone() {
      return serverOf(dataDir, await startLocalPostgres({ dataDir, port: postgres.port }));
    },
  };
}

/** Removes what a server has left. */
export async function removeServer(server: DatabaseServer): Promise<void> {
  await server.stop();
  await rm(server.dataDir, { recursive: true, force: true });
}

/** Files that tell of a running server, or lie beside the cluster. */
function isOfProcess(path: string): boolean {
  return /postmaster\.(pid|opts)$|\.log$|\.s\.PGSQL/.test(path);
}

async function connect({ connectionUri }: LocalPostgres): Promise<Client> {
  const client = new Client({ connectionString: connectionUri });
  // The server may die meanwhile; the statement under way tells.
  client.on("error", () => {});
  await client.connect();
  return client;
}
