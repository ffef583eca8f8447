import { execFile } from "node:child_process";
import { chown, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { statIfExists } from "./files.ts";

const run = promisify(execFile);

export interface OsUser {
  uid: number;
  gid: number;
}

/**
 * The user for the server: null for the user of this process, or a user to change to when this process
 * is root, because Postgres refuses to run as root. An existing cluster keeps its owner.
 *
 * @throws Error when the cluster belongs to a user whom this process cannot become
 */
export async function serverUser(clusterDir: string): Promise<OsUser | null> {
  const cluster = await statIfExists(clusterDir);
  const uid = process.getuid?.();
  if (uid === undefined) return null;
  if (uid !== 0) {
    if (cluster !== null && cluster.uid !== uid) {
      throw new Error(
        `${clusterDir} belongs to the user with id ${cluster.uid}, but this process runs as ` +
          `${uid}. Start it as that user, or choose another data folder.`,
      );
    }
    return null;
  }
  if (cluster !== null && cluster.uid !== 0) return { uid: cluster.uid, gid: cluster.gid };
  const user = await unprivilegedUser();
  // A backup that root copied back belongs to root, and the server would refuse it.
  if (cluster !== null) await chownTree(clusterDir, user);
  return user;
}

/** The user `postgres`, created when missing, because initdb requires a user with a name. */
async function unprivilegedUser(): Promise<OsUser> {
  const postgres = await lookUp("postgres");
  if (postgres !== null) return postgres;
  const arguments_ = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"];
  try {
    await run("useradd", [...arguments_, "--shell", "/usr/sbin/nologin", "postgres"]);
  } catch {
    // Without useradd, or with a read-only /etc, the user nobody is used.
  }
  const user = (await lookUp("postgres")) ?? (await lookUp("nobody"));
  if (user === null) {
    throw new Error(
      "Postgres does not run as root, and there is no user postgres or nobody to run it as.",
    );
  }
  return user;
}

async function lookUp(name: string): Promise<OsUser | null> {
  try {
    const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
}

async function chownTree(path: string, user: OsUser): Promise<void> {
  const info = await lstat(path);
  if (info.isSymbolicLink()) return;
  await chown(path, user.uid, user.gid);
  if (!info.isDirectory()) return;
  for (const name of await readdir(path)) await chownTree(join(path, name), user);
}
