import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { codeOf, StartError } from "./start-error.ts";

const POLL_MS = 100;
const LOCK_FILE = "lock.json";

const owner = z.object({
  pid: z.int().positive(),
  /** When the process began, in the kernel's terms; null where that cannot be found out. */
  startedAt: z.string().nullable(),
  /** The command that holds the folder. */
  command: z.string(),
});

/** The process to which a data folder belongs. */
export type LockOwner = z.output<typeof owner>;

/** The right to run Postgres in a data folder; of all living processes only one has it. */
export interface DataDirLock {
  release(): Promise<void>;
}

export interface LockOptions {
  /** What holds the lock, for the message that others get. */
  command: string;
  /** How long to wait for another owner to let go, in milliseconds. Default 0. */
  waitMs?: number;
  /** Which owners are worth waiting for; all by default. */
  isWorthWaitingFor?: (owner: LockOwner) => boolean;
  signal?: AbortSignal;
}

/**
 * Takes a data folder for this process. A lock whose owner was killed is taken over: an owner is
 * known by its pid together with the start time of the process, since pids are used again.
 *
 * @throws StartError naming the owner when it is alive
 */
export async function lockDataDir(dataDir: string, options: LockOptions): Promise<DataDirLock> {
  const { command, waitMs = 0, isWorthWaitingFor = () => true, signal } = options;
  const deadline = Date.now() + waitMs;
  for (;;) {
    const result = await tryLockDataDir(dataDir, command);
    if ("release" in result) return result;
    if (Date.now() >= deadline || !isWorthWaitingFor(result)) throw inUse(dataDir, result);
    await delay(POLL_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/** Like `lockDataDir`, but at once and with the living owner as result. */
export async function tryLockDataDir(
  dataDir: string,
  command: string,
): Promise<DataDirLock | LockOwner> {
  const file = join(dataDir, LOCK_FILE);
  const startedAt = await processStart(process.pid);
  const text = `${JSON.stringify({ pid: process.pid, startedAt, command } satisfies LockOwner)}\n`;
  for (;;) {
    if (await createWhole(file, text)) return { release: () => release(file, text) };
    const found = await readIfExists(file);
    if (found === null) continue;
    const current = parseOwner(found);
    if (current !== null && (await isAlive(current))) return current;
    await removeStale(file, found);
  }
}

/** Linking a finished file is atomic and fails when there is one already. */
async function createWhole(file: string, text: string): Promise<boolean> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text, { mode: 0o600 });
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Moves the file away before looking at it, as somebody else may have taken over in between. */
async function removeStale(file: string, staleText: string): Promise<void> {
  const aside = `${file}.${process.pid}.stale`;
  try {
    await rename(file, aside);
    if ((await readFile(aside, "utf8")) !== staleText) await link(aside, file);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "EEXIST") throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function release(file: string, text: string): Promise<void> {
  if ((await readIfExists(file)) === text) await rm(file, { force: true });
}

async function isAlive({ pid, startedAt }: LockOwner): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== "EPERM") return false;
  }
  return (await processStart(pid)) === startedAt;
}

/** The boot and the tick in which a process began: never the same for two processes. */
async function processStart(pid: number): Promise<string | null> {
  try {
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name, in brackets, may hold anything; the start time is the 20th word after it.
    const words = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return `${boot.trim()}/${words[19] ?? ""}`;
  } catch {
    return null;
  }
}

async function readIfExists(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

function parseOwner(text: string): LockOwner | null {
  try {
    return owner.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function inUse(dataDir: string, { pid, command }: LockOwner): StartError {
  return new StartError(
    `DATA_DIR: ${dataDir} is in use by ${command}, process ${pid}. ` +
      `Stop it first, or choose another folder with DATA_DIR.`,
  );
}
