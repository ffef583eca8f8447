import { createHash } from "node:crypto";
import {
  chmod,
  cp,
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { PostgresBinaries } from "./binaries.ts";
import { binariesIn, installedBinaries } from "./binaries.ts";
import type { FileLock } from "./file-lock.ts";
import { tryLockFile } from "./file-lock.ts";
import type { Launch } from "./launcher.ts";
import { succeeds } from "./launcher.ts";
import type { OsUser } from "./os-user.ts";

/** Folders where root may keep replaceable files. The first usable one is taken. */
const CACHES = ["/var/cache", "/var/lib", tmpdir(), "/var/tmp"];
const CACHE_NAME = "local-postgres-binaries";
const DRAFT_PREFIX = "draft-";
/** Another start copies at most 60 MB in this time. */
const LOCK_WAIT_MS = 60_000;
const LOCK_POLL_MS = 50;

/**
 * Programs that the server's user can run: the installed ones, or a copy when only root can reach
 * those, as in a checkout below root's home. A copy belongs to root, and nobody else may write to it.
 * Its folder is named after its content, so all checkouts with the same programs share one copy. A
 * complete copy is renamed into place.
 *
 * @throws Error when there are no programs, or no place for a copy that the user can reach
 */
export async function reachableBinaries(
  user: OsUser | null,
  launch: Launch,
): Promise<PostgresBinaries> {
  const installed = installedBinaries();
  if (user === null || (await isUsable(installed, launch))) return installed;
  const digest = await digestOf(installed.folder);
  const name = `${installed.version}-${digest}`;
  const failures: string[] = [];
  for (const parent of CACHES) {
    const cache = join(await realpath(parent).catch(() => parent), CACHE_NAME);
    try {
      await openCache(cache);
      const copy = join(cache, name);
      await ensureCopy(installed.folder, digest, copy);
      const binaries = binariesIn(copy, installed.version);
      if (await isUsable(binaries, launch)) return binaries;
      failures.push(`${cache} is closed to that user`);
    } catch (error) {
      failures.push(`${cache}: ${String(error)}`);
    }
  }
  throw new Error(
    `Postgres has to run as the user with id ${user.uid}, who cannot reach ${installed.folder}, ` +
      `and there is no place for a copy (${failures.join("; ")}). ` +
      `Move the checkout to a folder that every user can enter.`,
  );
}

/**
 * Tries the program as that user, because file modes do not tell everything. The second file stands for `share`.
 */
async function isUsable({ postgres, folder }: PostgresBinaries, launch: Launch): Promise<boolean> {
  const catalogue = join(folder, "share/postgresql/postgres.bki");
  return (
    (await succeeds(launch, postgres, ["--version"])) &&
    (await succeeds(launch, "test", ["-r", catalogue]))
  );
}

/**
 * Creates the folder for copies.
 * @throws Error when another user than root could change its content
 */
async function openCache(cache: string): Promise<void> {
  await mkdir(cache, { mode: 0o755 }).catch(() => {});
  const stats = await lstat(cache);
  if (!stats.isDirectory() || stats.uid !== 0 || (stats.mode & 0o022) !== 0) {
    throw new Error("not a folder of root's alone");
  }
  // A umask may have removed the right to enter.
  await chmod(cache, 0o755);
  for (let folder = dirname(cache); ; folder = dirname(folder)) {
    const { uid, mode } = await lstat(folder);
    const isSticky = (mode & 0o1000) !== 0;
    if (uid !== 0 || ((mode & 0o022) !== 0 && !isSticky)) {
      throw new Error(`others could replace ${folder}`);
    }
    if (folder === dirname(folder)) return;
  }
}

async function ensureCopy(source: string, digest: string, copy: string): Promise<void> {
  if (await isWhole(copy, digest)) return;
  const cache = dirname(copy);
  const lock = await lockCache(cache);
  try {
    if (await isWhole(copy, digest)) return;
    await removeDrafts(cache);
    const draft = join(cache, `${DRAFT_PREFIX}${process.pid}`);
    await cp(source, draft, { recursive: true, verbatimSymlinks: true });
    await openToAll(draft);
    // A copy that lost a part, for instance in a power cut, is moved away.
    await rename(copy, join(cache, `${DRAFT_PREFIX}damaged`)).catch(() => {});
    await rename(draft, copy);
  } finally {
    await removeDrafts(cache).catch(() => {});
    lock.release();
  }
}

async function isWhole(copy: string, digest: string): Promise<boolean> {
  return (await digestOf(copy).catch(() => null)) === digest;
}

/** A process that finds another one copying waits for that copy. */
async function lockCache(cache: string): Promise<FileLock> {
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    const lock = tryLockFile(join(cache, "lock"));
    if (lock !== null) return lock;
    if (Date.now() > deadline) throw new Error("another process holds its lock");
    await delay(LOCK_POLL_MS);
  }
}

/** Under the lock, every draft is the rest of an interrupted copy. */
async function removeDrafts(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    if (name.startsWith(DRAFT_PREFIX)) await rm(join(cache, name), { recursive: true });
  }
}

/** A strict umask makes npm install files for their owner only. */
async function openToAll(path: string): Promise<void> {
  const stats = await lstat(path);
  if (stats.isSymbolicLink()) return;
  const isProgram = stats.isDirectory() || (stats.mode & 0o100) !== 0;
  await chmod(path, isProgram ? 0o755 : 0o644);
  if (!stats.isDirectory()) return;
  for (const name of await readdir(path)) await openToAll(join(path, name));
}

/** A hash of the names and contents of all files below a folder; 60 MB take some 0.2 s. */
async function digestOf(folder: string): Promise<string> {
  const hash = createHash("sha256");
  async function add(path: string): Promise<void> {
    const stats = await lstat(path);
    hash.update(`\0${relative(folder, path)}\0`);
    if (stats.isSymbolicLink()) hash.update(await readlink(path));
    else if (stats.isDirectory()) {
      for (const name of (await readdir(path)).toSorted()) await add(join(path, name));
    } else hash.update(await readFile(path));
  }
  await add(folder);
  return hash.digest("hex").slice(0, 32);
}
