import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { tryLockFile } from "@workflow/local-postgres";
import { z } from "zod";
import { codeOf, explain, StartError } from "./start-error.ts";

const POLL_MS = 100;
/** How long a killed process may take to end, and a new holder to write who it is. */
const GRACE_MS = 1_000;
/** The file that the kernel locks. It is never removed. */
const LOCK_FILE = "lock";
/** Names the holder of the lock. Only a help: it may be missing, or be that of a killed process. */
const HOLDER_FILE = "lock.json";

const holder = z.object({
  pid: z.int().positive(),
  /** The command that holds the folder. */
  command: z.string(),
});

/** The commands that run a system in a data folder until they are stopped. */
const SYSTEM_COMMANDS = ["npm start", "npm run start:separate"] as const;

/** A command that runs a system. */
export type SystemCommand = (typeof SYSTEM_COMMANDS)[number];

/** Whether a command runs a system in the folder that it holds. */
export function isSystemCommand(command: string | undefined): command is SystemCommand {
  return SYSTEM_COMMANDS.some((each) => each === command);
}

/** The process that holds a data folder. */
export type LockHolder = z.output<typeof holder>;

/** The right to run Postgres in a data folder. Only one living process has it. */
export interface DataDirLock {
  release(): Promise<void>;
}

/** A folder that another process holds. The holder is null until it has written who it is. */
export interface HeldByAnother {
  holder: LockHolder | null;
}

export interface LockOptions {
  /** The command of this process, for messages to others. */
  command: string;
  /** How long to wait for another holder, in milliseconds. Default 0. */
  waitMs?: number;
  /** The holders that are worth waiting for; all by default. An unknown one always is. */
  isWorthWaitingFor?: (holder: LockHolder) => boolean;
  signal?: AbortSignal;
}

/**
 * Locks a data folder for this process. The kernel holds the lock, so a process that has ended, even by kill -9,
 * holds nothing.
 * @throws StartError that names the holder, when it is known
 */
export async function lockDataDir(dataDir: string, options: LockOptions): Promise<DataDirLock> {
  const { command, waitMs = 0, isWorthWaitingFor = () => true, signal } = options;
  const begun = Date.now();
  for (;;) {
    const result = await tryLockDataDir(dataDir, command);
    if ("release" in result) return result;
    const isWorthIt = result.holder === null || isWorthWaitingFor(result.holder);
    const limitMs = Math.max(GRACE_MS, isWorthIt ? waitMs : 0);
    if (Date.now() - begun >= limitMs) throw inUse(dataDir, result.holder);
    await delay(POLL_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/** Tries to lock a data folder once, and returns the holder when that fails. */
export async function tryLockDataDir(
  dataDir: string,
  command: string,
): Promise<DataDirLock | HeldByAnother> {
  const file = join(dataDir, HOLDER_FILE);
  const lock = takeLock(dataDir);
  if (lock === null) return { holder: await readHolder(file) };
  try {
    await writeHolder(file, { pid: process.pid, command });
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    async release() {
      await rm(file, { force: true });
      lock.release();
    },
  };
}

/** Command and process number of a holder for messages, when they are known. */
export function describeHolder(by: LockHolder | null): string {
  return by === null ? "another process" : `${by.command}, process ${by.pid}`;
}

function takeLock(dataDir: string): ReturnType<typeof tryLockFile> {
  try {
    return tryLockFile(join(dataDir, LOCK_FILE));
  } catch (error) {
    throw new StartError(`DATA_DIR: the folder ${dataDir} cannot be locked: ${explain(error)}.`, {
      cause: error,
    });
  }
}

async function writeHolder(file: string, value: LockHolder): Promise<void> {
  const draft = `${file}.${value.pid}`;
  await writeFile(draft, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

/** Reads the holder's file. Null when it is missing, or its process is gone. */
async function readHolder(file: string): Promise<LockHolder | null> {
  const text = await readFile(file, "utf8").catch(() => "");
  const found = parseHolder(text);
  return found !== null && (await isRunning(found.pid)) ? found : null;
}

function parseHolder(text: string): LockHolder | null {
  try {
    return holder.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== "EPERM") return false;
  }
  // A process that is ending has no memory any more. Only Linux tells.
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return status === "" || /^VmSize:/m.test(status);
}

function inUse(dataDir: string, by: LockHolder | null): StartError {
  return new StartError(
    `DATA_DIR: ${dataDir} is in use by ${describeHolder(by)}. ` +
      `Stop it first, or choose another folder with DATA_DIR.`,
  );
}
