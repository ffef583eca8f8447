import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { postgresBinaries } from "./binaries.ts";
import { readIfExists, statIfExists, writePrivateFile } from "./files.ts";
import type { Launch } from "./launcher.ts";
import type { OsUser } from "./os-user.ts";

/** What a client needs to know of the cluster, kept in `postgres.json`. */
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

/** The superuser's address of a server of this cluster. */
export function connectionUri(access: Access, port: number): string {
  const host = access.socketFolder === null ? "127.0.0.1" : encodeURIComponent(access.socketFolder);
  return `postgresql://postgres:${access.password}@${host}:${port}/postgres`;
}

/**
 * Makes the cluster unless it exists and returns how to sign in. The cluster is made in a folder of
 * another name and renamed when complete, so a half-made one is never taken for a cluster.
 *
 * @throws Error when the cluster exists but its password is lost, or when initdb fails
 */
export async function ensureCluster(
  dataDir: string,
  user: OsUser | null,
  launch: Launch,
  durable: boolean,
): Promise<Access> {
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
  const passwordFile = `${draft}.password`;
  await writeFile(passwordFile, access.password, { mode: 0o600 });
  if (user !== null) {
    await chown(draft, user.uid, user.gid);
    await chown(passwordFile, user.uid, user.gid);
  }
  await initialise(draft, passwordFile, launch, durable);
  await rm(passwordFile);
  await writeAccess(dataDir, access);
  await rename(draft, clusterFolder(dataDir));
  return access;
}

async function initialise(
  folder: string,
  passwordFile: string,
  launch: Launch,
  durable: boolean,
): Promise<void> {
  const args = ["-D", folder, "-U", "postgres", "--pwfile", passwordFile, "-A", "scram-sha-256"];
  // Text sorts by code point, fast and the same on every machine; ICU collations stay available.
  args.push("-E", "UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8");
  if (!durable) args.push("--no-sync");
  const child = launch(postgresBinaries().initdb, args, ["ignore", "ignore", "pipe"]);
  let complaint = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    complaint = (complaint + chunk).slice(-4000);
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`initdb failed: ${complaint.trim()}`);
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
