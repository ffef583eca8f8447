import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";
import { promisify } from "node:util";

/** The machine, the commit and the settings of the figures. */
export interface Circumstances {
  /** ISO 8601. */
  startedAt: string;
  /** Short hash; "unknown" outside a repository. */
  commit: string;
  hasUncommittedChanges: boolean;
  cores: number;
  cpu: string;
  memoryGiB: number;
  node: string;
  /** Load averages over 1, 5 and 15 minutes before the start of anything. */
  loadBefore: number[];
  /** Whether the data folder is in memory, where commits cost no disk write. */
  isDataInMemory: boolean;
  /** Settings of the system that come from the environment, as NAME=value. */
  settings: string[];
}

/** Settings that a comparison may tune from outside; the report shows them. */
const TUNABLE = ["WORKER_CONCURRENCY", "DATABASE_POOL_SIZE", "NODE_OPTIONS"];
const TMPFS_TYPE = 0x01_02_19_94;

/** Reads the circumstances; call this before the system starts. */
export async function readCircumstances(): Promise<Circumstances> {
  const processors = cpus();
  return {
    startedAt: new Date().toISOString(),
    commit: (await git("rev-parse", "--short", "HEAD")) ?? "unknown",
    hasUncommittedChanges: ((await git("status", "--porcelain")) ?? "") !== "",
    cores: processors.length,
    cpu: processors[0]?.model.trim() ?? "unknown",
    memoryGiB: totalmem() / 1024 ** 3,
    node: process.version,
    loadBefore: loadavg(),
    isDataInMemory: (await statfs(tmpdir())).type === TMPFS_TYPE,
    settings: TUNABLE.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [`${name}=${value}`];
    }),
  };
}

async function git(...args: string[]): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)("git", args, { cwd: import.meta.dirname });
    return stdout.trim();
  } catch {
    return undefined;
  }
}
