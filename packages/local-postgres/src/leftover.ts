import { readFile, readdir, readlink, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isNativeError } from "node:util/types";
import { readIfExists } from "./files.ts";

const FAST_SHUTDOWN_MS = 20_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const EXITING_MS = 1_000;

/**
 * A setting without effect that names the cluster on the server's command line, so that its process can be found.
 * The folder itself is the working directory, which not everybody may read.
 */
export const CLUSTER_SETTING = "local_postgres.cluster";

/** The process number of the living server of this cluster, or null. */
export async function findPostmaster(clusterDir: string): Promise<number | null> {
  const pid = await recordedPid(clusterDir);
  return pid !== null && (await isPostmasterOf(pid, clusterDir)) ? pid : null;
}

/**
 * Ends the processes that a killed owner left behind: its server, or processes of a killed server,
 * which would block the next one. It also removes a pid file whose number now belongs to another
 * program, because Postgres would take that program for its predecessor.
 *
 * @param stop ends the wait
 * @throws Error when the server does not end
 */
export async function clearLeftovers(clusterDir: string, stop?: AbortSignal): Promise<void> {
  const postmaster = await findPostmaster(clusterDir);
  if (postmaster !== null) {
    signal(postmaster, "SIGINT");
    const hasEnded = async () => !(await isPostmasterOf(postmaster, clusterDir));
    await waitUntil(hasEnded, FAST_SHUTDOWN_MS, stop);
  }
  for (const pid of await serverProcesses(clusterDir)) signal(pid, "SIGQUIT");
  const isGone = async () =>
    (await serverProcesses(clusterDir)).length === 0 && (await findPostmaster(clusterDir)) === null;
  if (!(await waitUntil(isGone, IMMEDIATE_SHUTDOWN_MS, stop))) {
    throw new Error(`A Postgres server of ${clusterDir} is running and does not end.`);
  }
  const { uid } = await stat(clusterDir);
  // Processes of another cluster may be among them repeatedly, so the wait is short and its end is no
  // failure.
  await waitUntil(async () => !(await isAnyExiting(uid)), EXITING_MS, stop);
  await removeMisleadingPidFile(clusterDir);
}

async function removeMisleadingPidFile(clusterDir: string): Promise<void> {
  const pid = await recordedPid(clusterDir);
  if (pid === null || !isAlive(pid)) return;
  await rm(join(clusterDir, "postmaster.pid"), { force: true });
}

async function recordedPid(clusterDir: string): Promise<number | null> {
  const text = await readIfExists(join(clusterDir, "postmaster.pid"));
  const pid = Number(text?.split("\n")[0]);
  return Number.isSafeInteger(pid) && pid > 1 ? pid : null;
}

async function isPostmasterOf(pid: number, clusterDir: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  // Without /proc (macOS), only the pid file tells.
  if (process.platform !== "linux") return true;
  try {
    const words = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
    return (
      basename(words[0] ?? "") === "postgres" && words.includes(`${CLUSTER_SETTING}=${clusterDir}`)
    );
  } catch {
    return false;
  }
}

/** The processes of a server, recognized by program and working directory. */
async function serverProcesses(clusterDir: string): Promise<number[]> {
  if (process.platform !== "linux") return [];
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const folder = await readlink(`/proc/${name}/cwd`);
      const program = basename(await readlink(`/proc/${name}/exe`));
      if (folder === clusterDir && program.startsWith("postgres")) found.push(Number(name));
    } catch {
      // The process has ended, or belongs to another user.
    }
  }
  return found;
}

/**
 * Whether a server process of a user is ending. The kernel removes its folder and its program before
 * its shared memory, so the process's cluster is unknown, and the next server is refused until the
 * process is gone. A zombie has nothing left but its number.
 */
async function isAnyExiting(uid: number): Promise<boolean> {
  if (process.platform !== "linux") return false;
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const status = await readFile(`/proc/${name}/status`, "utf8").catch(() => "");
    const isServer = status.startsWith("Name:\tpostgres\n") && status.includes(`\nUid:\t${uid}\t`);
    if (isServer && !/^VmSize:/m.test(status) && !/^State:\t[ZX]/m.test(status)) return true;
  }
  return false;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isNativeError(error) && "code" in error && error.code === "EPERM";
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended by itself.
  }
}

async function waitUntil(
  test: () => Promise<boolean>,
  timeoutMs: number,
  stop: AbortSignal | undefined,
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (!(await test())) {
    stop?.throwIfAborted();
    if (Date.now() > deadline) return false;
    await delay(25);
  }
  return true;
}
