import type { Dirent } from "node:fs";
import { copyFile, lchown, lstat, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";

/**
 * Folders that a backup leaves empty: the server makes their contents anew, or they are copied at the end.
 */
const LEFT_OUT = new Set(["pg_wal", "pg_replslot", "pg_dynshmem", "pg_notify", "pg_serial"]);
const OWN_FILES = new Set(["postmaster.pid", "postmaster.opts"]);
const WAL_SEGMENT = /^[0-9A-F]{24}$/;
const SLOT = "base_backup";

/**
 * Copies the cluster of a running server, as `pg_basebackup` does, with the server's own functions: the tests'
 * Postgres comes without that program. A server that starts on the copy has what was committed up to some moment
 * before this resolves.
 *
 * @param connectionUri a superuser's
 * @param cluster the server's data folder
 * @param target a folder that is not there yet
 */
export async function takeBaseBackup(
  connectionUri: string,
  cluster: string,
  target: string,
): Promise<void> {
  const client = new Client({ connectionString: connectionUri });
  await client.connect();
  try {
    // The server keeps the write-ahead log from now on, whatever the load.
    await client.query("select pg_create_physical_replication_slot($1, true)", [SLOT]);
    await client.query("select pg_backup_start('test', true)");
    await copyFolder(cluster, target, (name) => !LEFT_OUT.has(name) && !OWN_FILES.has(name));
    for (const name of LEFT_OUT) await copyEmpty(join(cluster, name), join(target, name));
    const stopped = await client.query<{ labelfile: string }>(
      "select labelfile from pg_backup_stop(false)",
    );
    const label = join(target, "backup_label");
    await writeFile(label, stopped.rows[0]?.labelfile ?? "", { mode: 0o600 });
    await ownAs(cluster, label);
    await copyFolder(join(cluster, "pg_wal"), join(target, "pg_wal"), (name) =>
      WAL_SEGMENT.test(name),
    );
    await client.query("select pg_drop_replication_slot($1)", [SLOT]);
  } finally {
    await client.end();
  }
}

async function copyFolder(
  source: string,
  target: string,
  isWanted: (name: string) => boolean,
): Promise<void> {
  await copyEmpty(source, target);
  for (const entry of await readdir(source, { withFileTypes: true })) {
    if (!isWanted(entry.name)) continue;
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) await copyFolder(from, to, () => true);
    else await copyOne(entry, from, to);
  }
}

async function copyOne(entry: Dirent, from: string, to: string): Promise<void> {
  if (!entry.isFile()) throw new Error(`${from} is neither a file nor a folder.`);
  try {
    await copyFile(from, to);
    await ownAs(from, to);
  } catch (error) {
    // The file was dropped meanwhile, which the write-ahead log knows.
    if (await isThere(from)) throw error;
  }
}

async function copyEmpty(source: string, target: string): Promise<void> {
  const { mode } = await lstat(source);
  await mkdir(target, { recursive: true, mode: mode & 0o777 });
  await ownAs(source, target);
}

async function ownAs(source: string, target: string): Promise<void> {
  const { uid, gid } = await lstat(source);
  await lchown(target, uid, gid);
}

async function isThere(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}
