import { createHash } from "node:crypto";
import { chown, lstat, mkdir, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OsUser } from "./os-user.ts";

/**
 * A private folder for the server's Unix socket, or null when none can be had. A query over the
 * socket costs about a seventh less processor time than over loopback TCP (measured on both ends
 * together). It lies in the folder for temporary files because a socket's path may have 107 bytes
 * only, which a data folder's may exceed.
 */
export async function openSocketFolder(
  clusterDir: string,
  user: OsUser | null,
): Promise<string | null> {
  const name = createHash("sha256").update(clusterDir).digest("hex").slice(0, 16);
  const folder = join(tmpdir(), `local-postgres-${name}`);
  if (folder.length > PATH_LENGTH_MAX) return null;
  try {
    await mkdir(folder, { mode: 0o700 });
    if (user !== null) await chown(folder, user.uid, user.gid);
  } catch {
    // It is there from an earlier start, or cannot be made: the look below tells which.
  }
  return (await isOurs(folder, user)) ? folder : null;
}

/** Removes the folder when the server has removed its socket from it. */
export async function closeSocketFolder(folder: string | null): Promise<void> {
  if (folder !== null) await rmdir(folder).catch(() => {});
}

/** Leaves room for `/.s.PGSQL.65535.lock` within the 107 bytes of a socket's path. */
const PATH_LENGTH_MAX = 80;

/** Anybody may have made a folder of this name: it counts only when nobody else can look into it. */
async function isOurs(folder: string, user: OsUser | null): Promise<boolean> {
  try {
    const stats = await lstat(folder);
    const owner = user?.uid ?? process.getuid?.();
    return stats.isDirectory() && stats.uid === owner && (stats.mode & 0o077) === 0;
  } catch {
    return false;
  }
}
