import { spawnSync } from "node:child_process";
import { mkdtemp, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScope } from "@workflow/async";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { LocalPostgres } from "@workflow/local-postgres";
import { Client } from "pg";
import { fillUp, mountDisk } from "./mounted-disk.ts";

/** A server whose log of changes (`pg_wal`) has a small disk of its own. */
export interface SmallLogDisk {
  databaseUrl: string;
  /** From here on there is no room for another file of the log, and no old one is used again. */
  fill(): Promise<void>;
  /** Whether the server has ended because it could not write its log. */
  hasEnded(): boolean;
  /** Makes room, and starts the server, which has ended, again at its address. */
  free(): Promise<void>;
  close(): Promise<void>;
}

const DISK_MB = 192;
/** Files of 16 MiB: the log is small, and few of them are made ahead. */
const SETTINGS = { min_wal_size: "32MB", max_wal_size: "64MB" };
/** Makes Postgres keep its log for a standby that never comes, as a forgotten one does. */
const SLOT = "forgotten";

/** Starts the server, durable as in production. Needs root and mounts, see `whyNoMounts`. */
export async function createSmallLogDisk(): Promise<SmallLogDisk> {
  const scope = createScope();
  return scope.guard(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "small-log-"));
    scope.defer(() => rm(dataDir, { recursive: true, force: true }));
    const first = await startLocalPostgres({ dataDir });
    await first.stop();
    const folder = await moveLog(join(dataDir, "pgdata/pg_wal"), (undo) => scope.defer(undo));
    const { port } = first;
    const start = (): Promise<LocalPostgres> =>
      startLocalPostgres({ dataDir, port, settings: SETTINGS });
    let server = await start();
    scope.defer(() => server.stop());
    let hasEnded = false;
    void server.exited.then(() => (hasEnded = true));
    const { connectionUri } = server;
    const filler = join(folder, "filler");
    return {
      databaseUrl: connectionUri,
      async fill() {
        await ask(connectionUri, `select pg_create_physical_replication_slot('${SLOT}', true)`);
        // The log goes on in a new file, which has room for what is accepted from now on.
        await ask(connectionUri, "select pg_switch_wal()");
        await ask(connectionUri, "checkpoint");
        await fillUp(filler);
      },
      hasEnded: () => hasEnded,
      async free() {
        await rm(filler);
        server = await start();
        hasEnded = false;
        await ask(connectionUri, `select pg_drop_replication_slot('${SLOT}')`);
      },
      close: () => scope.close(),
    };
  });
}

/** Moves the log of a stopped server to a disk of its own; the folder there. */
async function moveLog(
  log: string,
  defer: (undo: () => void | Promise<void>) => void,
): Promise<string> {
  const { uid, gid } = await stat(log);
  const folder = await mountDisk({ megabytes: DISK_MB, uid, gid }, defer);
  if (folder === null) throw new Error("Nothing can be mounted.");
  const copied = spawnSync("cp", ["--archive", `${log}/.`, folder], { encoding: "utf8" });
  if (copied.status !== 0) throw new Error(copied.stderr);
  await rm(log, { recursive: true });
  await symlink(folder, log);
  return folder;
}

async function ask(connectionUri: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: connectionUri });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
