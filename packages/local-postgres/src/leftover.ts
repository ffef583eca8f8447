import { readFile, readdir, readlink, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isNativeError } from "node:util/types";
import { readIfExists } from "./files.ts";

const FAST_SHUTDOWN_MS = 20_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;

/** The pid of the live server that serves this cluster, or null. */
export async function findPostmaster(clusterDir: string): Promise<number | null> {
  const pid = await recordedPid(clusterDir);
  return pid !== null && (await isPostmasterOf(pid, clusterDir)) ? pid : null;
}

/**
 * Ends what an earlier owner that was killed left behind: its server, or processes of a server that
 * was itself killed, which would hinder the next one. Also removes a pid file whose number now
 * belongs to some other program, because Postgres would take that one for its predecessor.
 *
 * @throws Error when the server does not end
 */
export async function clearLeftovers(clusterDir: string): Promise<void> {
  const postmaster = await findPostmaster(clusterDir);
  if (postmaster !== null) {
    signal(postmaster, "SIGINT");
    await waitUntil(FAST_SHUTDOWN_MS, async () => !(await isPostmasterOf(postmaster, clusterDir)));
  }
  const rest = await serverProcesses(clusterDir);
  for (const pid of rest) signal(pid, "SIGQUIT");
  const gone = await waitUntil(
    IMMEDIATE_SHUTDOWN_MS,
    async () =>
      (await serverProcesses(clusterDir)).length === 0 &&
      (await findPostmaster(clusterDir)) === null,
  );
  if (!gone) throw new Error(`A Postgres server of ${clusterDir} is running and does not end.`);
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
  // Without /proc (macOS) the pid file is all there is to go by.
  if (process.platform !== "linux") return true;
  try {
    const words = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
    return basename(words[0] ?? "") === "postgres" && words.includes(clusterDir);
  } catch {
    return false;
  }
}

/** The processes of a server, known by its program and by the folder in which all of them work. */
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
      // Ended meanwhile, or another user's: none of ours.
    }
  }
  return found;
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
    // It ended on its own.
  }
}

async function waitUntil(timeoutMs: number, test: () => Promise<boolean>): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (!(await test())) {
    if (Date.now() > deadline) return false;
    await delay(25);
  }
  return true;
}
