import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { FileHandle } from "node:fs/promises";
import { chown, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { readIfExists, statIfExists, writePrivateFile } from "./files.ts";
import type { Launch } from "./launcher.ts";
import { folderArgument } from "./launcher.ts";
import type { OsUser } from "./os-user.ts";

/** The data that a client needs to reach the cluster, kept in `postgres.json`. */
export interface Access {
  port: number | null;
  password: string;
  /** Folder of the server's Unix socket; null when it listens on TCP only. */
  socketFolder: string | null;
}

const DRAFT_PREFIX = "pgdata.new-";

export function clusterFolder(dataDir: string): string {
  return join(dataDir, "pgdata");
}

/** The stored access data, or null when there is no (readable) file. */
export async function readAccess(dataDir: string): Promise<Access | null> {
  const text = await readIfExists(accessFile(dataDir));
  if (text === null) return null;
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) return null;
  if (!("password" in value) || typeof value.password !== "string") return null;
  const port = "port" in value && typeof value.port === "number" ? value.port : null;
  const socketFolder =
    "socketFolder" in value && typeof value.socketFolder === "string" ? value.socketFolder : null;
  return { port, password: value.password, socketFolder };
}

export async function writeAccess(dataDir: string, access: Access): Promise<void> {
  await writePrivateFile(accessFile(dataDir), `${JSON.stringify(access, null, 2)}\n`);
}

/** The superuser's address of this cluster's server. */
export function connectionUri(access: Access, port: number): string {
  const host = access.socketFolder === null ? "127.0.0.1" : encodeURIComponent(access.socketFolder);
  return `postgresql://postgres:${access.password}@${host}:${port}/postgres`;
}

export interface ClusterOptions {
  /** The path of the program initdb. */
  initdb: string;
  launch: Launch;
  /** The future owner; null for the user of this process. */
  user: OsUser | null;
  /** Whether the cluster has to survive a loss of power. */
  durable: boolean;
}

/**
 * Makes the cluster unless it exists and returns how to sign in. The cluster is made in a folder of
 * another name and renamed when complete, so a half-made one is never taken for a cluster.
 *
 * @throws Error when the cluster exists but its password is lost, or when initdb fails
 */
export async function ensureCluster(dataDir: string, options: ClusterOptions): Promise<Access> {
  await removeDrafts(dataDir);
  if ((await statIfExists(clusterFolder(dataDir))) !== null) {
    const access = await readAccess(dataDir);
    if (access !== null) return access;
    throw new Error(
      `${accessFile(dataDir)} is missing or damaged; it holds the password of the cluster in ` +
        `${clusterFolder(dataDir)}. Restore it, or remove both to start with an empty database.`,
    );
  }
  const password = randomBytes(24).toString("base64url");
  const access = { port: null, password, socketFolder: null };
  const draft = join(dataDir, DRAFT_PREFIX + randomBytes(4).toString("hex"));
  await mkdir(draft, { mode: 0o700 });
  if (options.user !== null) await chown(draft, options.user.uid, options.user.gid);
  await initialise(draft, password, options);
  await writeAccess(dataDir, access);
  await rename(draft, clusterFolder(dataDir));
  return access;
}

async function initialise(
  folder: string,
  password: string,
  { initdb, launch, user, durable }: ClusterOptions,
): Promise<void> {
  const args = ["-D", folderArgument(folder, user), "-U", "postgres", "-A", "scram-sha-256"];
  // Text sorts by code point, fast and the same on every machine; ICU collations stay available.
  args.push("-E", "UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8");
  if (!durable) args.push("--no-sync");
  const passwordFile = await openPasswordFile(`${folder}.password`, password, user);
  args.push("--pwfile=/dev/stdin");
  let complaint = "";
  try {
    const child = launch(initdb, args, { cwd: folder, stdio: [passwordFile.fd, "ignore", "pipe"] });
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      complaint = (complaint + chunk).slice(-4000);
    });
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`initdb failed: ${complaint.trim()}`);
  } finally {
    await passwordFile.close();
  }
}

/** Opens a file without a name. Its reader needs no path to it, and nothing remains of it. */
async function openPasswordFile(
  path: string,
  password: string,
  user: OsUser | null,
): Promise<FileHandle> {
  const file = await open(path, "wx+", 0o600);
  try {
    await rm(path);
    // Where /dev/stdin opens the file again, its owner matters. Elsewhere the position does, which is still 0.
    if (user !== null) await file.chown(user.uid, user.gid);
    await file.write(password, 0);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function removeDrafts(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(DRAFT_PREFIX)) {
      await rm(join(dataDir, name), { recursive: true, force: true });
    }
  }
}

function accessFile(dataDir: string): string {
  return join(dataDir, "postgres.json");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
