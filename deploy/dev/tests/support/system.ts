import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  access,
  chmod,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  realpath,
  rm,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMPILE_CACHE, freePort, waitFor } from "@workflow/testkit";

const SOURCE = join(import.meta.dirname, "../../src");
/** A machine with other work to do takes ten times as long as one without. */
const START_TIMEOUT_MS = 120_000;

/** A command that has ended. */
export interface Outcome {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** A process of a test, and what it has printed so far. */
export interface RunningProcess {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  ended: Promise<Outcome>;
}

/** A `npm start` that has said that it is ready. */
export interface StartedSystem extends RunningProcess {
  baseUrl: string;
  /** Status of a GET below /api/v1 with a key. */
  statusOf(path: string, apiKey: string): Promise<number>;
}

/** Values of settings by name. */
export type TestSettings = Readonly<Record<string, string>>;

/** A user of the operating system. */
export interface OsUser {
  uid: number;
  gid: number;
}

const processes = new Set<ChildProcess>();
const folders = new Set<string>();

/** For afterAll: ends what a failed test left, and removes the folders. */
export async function cleanUp(): Promise<void> {
  for (const child of processes) {
    if (child.exitCode === null && child.signalCode === null) {
      killGroup(child);
      await once(child, "exit");
    }
  }
  for (const folder of folders) {
    // The server of a killed system ends a moment after it.
    await waitFor(async () => (await postgresProcesses(folder)).length === 0, {
      what: `the servers of ${folder} to end`,
    });
    await rm(folder, { recursive: true, force: true });
  }
  folders.clear();
}

/** Kills a process of a test and everything that it has started, at once. */
export function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, "SIGKILL");
}

/** A folder that every user can enter, removed by `cleanUp`. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "workflow-dev-")));
  await chmod(folder, 0o755);
  folders.add(folder);
  return folder;
}

/** A user without rights: `nobody` when the tests run as root, else the one who runs them. */
export async function ordinaryUser(): Promise<OsUser> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (uid !== 0) return { uid, gid };
  const [nobody] = (await readFile("/etc/passwd", "utf8")).match(/^nobody:.*$/m) ?? [];
  const [, , nobodyUid, nobodyGid] = nobody?.split(":") ?? [];
  return { uid: Number(nobodyUid), gid: Number(nobodyGid) };
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Settings that collide with no other system on this machine. */
export async function testSettings(dataDir: string): Promise<TestSettings> {
  const [port, workflows] = [await freePort(), await freePort()];
  return {
    DATA_DIR: dataDir,
    PORT: String(port),
    METRICS_PORT: "0",
    WORKFLOWS_GRPC_ADDR: `127.0.0.1:${workflows}`,
    RUNS_GRPC_ADDR: "127.0.0.1:0",
    TABLES_GRPC_ADDR: "127.0.0.1:0",
    INTEGRATIONS_GRPC_ADDR: "127.0.0.1:0",
    WEBHOOKS_GRPC_ADDR: "127.0.0.1:0",
    WEBHOOKS_HTTP_ADDR: "127.0.0.1:0",
  };
}

/** Starts the system and waits until it is ready. */
export function startSystem(settings: TestSettings): Promise<StartedSystem> {
  return whenReady(launchStart(settings), settings);
}

/** Waits until a start has said that it is ready. */
export async function whenReady(
  started: RunningProcess,
  settings: TestSettings,
): Promise<StartedSystem> {
  await waitForOutput(started, /^Ready \S+$/m);
  const baseUrl = `http://127.0.0.1:${settings["PORT"]}/api/v1`;
  return {
    ...started,
    baseUrl,
    async statusOf(path, apiKey) {
      const response = await fetch(baseUrl + path, { headers: { "x-api-key": apiKey } });
      await response.arrayBuffer();
      return response.status;
    },
  };
}

/** Runs the start to its end, for settings with which it fails. */
export function failToStart(settings: TestSettings): Promise<Outcome> {
  return launch([join(SOURCE, "start.ts")], settings).ended;
}

/** Runs an admin command; spaces separate its words. It gets `stdin`, else an empty one. */
export function runAdmin(
  settings: TestSettings,
  commandLine: string,
  stdin?: string,
): Promise<Outcome> {
  const words = [join(SOURCE, "admin.ts"), ...commandLine.split(" ")];
  return launch(words, settings, stdin).ended;
}

/** Starts the system without waiting for it. */
export function launchStart(settings: TestSettings): RunningProcess {
  return launch([join(SOURCE, "start.ts")], settings);
}

/** Runs Node with nothing in its environment but these settings. */
export function launch(
  words: readonly string[],
  settings: TestSettings,
  stdin?: string,
): RunningProcess {
  return launchProgram(process.execPath, words, settings, stdin === undefined ? {} : { stdin });
}

/** Whose process it is and where it runs; by default as this one. */
export interface Surroundings {
  user?: OsUser;
  cwd?: string;
  /** What it reads from its standard input; nothing by default. */
  stdin?: string;
}

/** Like `launch`, for any program. */
export function launchProgram(
  program: string,
  words: readonly string[],
  settings: TestSettings,
  { user, cwd, stdin = "" }: Surroundings = {},
): RunningProcess {
  const child = spawn(program, words, {
    ...user,
    // A group of its own, so that what it has started can be ended with it.
    detached: true,
    ...(cwd === undefined ? {} : { cwd }),
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      ...COMPILE_CACHE,
      ...settings,
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // A program that reads nothing may have ended before.
  child.stdin.on("error", () => {}).end(stdin);
  processes.add(child);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "close").then(() => ({ exitCode: child.exitCode, stdout, stderr }));
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

/** The first match in what a process prints. Fails when it ends before. */
async function waitForOutput(running: RunningProcess, pattern: RegExp): Promise<string> {
  let outcome: Outcome | undefined;
  void running.ended.then((ended) => (outcome = ended));
  const match = await waitFor(
    () => pattern.exec(running.stdout())?.[0] ?? (outcome === undefined ? null : "ended"),
    { what: `${pattern} to be printed`, timeoutMs: START_TIMEOUT_MS },
  );
  if (match === "ended") throw new Error(`It has ended: ${JSON.stringify(outcome)}`);
  return match;
}

/** The API key that a first start prints. */
export function printedKey(stdout: string): string {
  const key = /wfk_[A-Za-z0-9]{32}/.exec(stdout)?.[0];
  if (key === undefined) throw new Error(`No key in: ${stdout}`);
  return key;
}

/** The id of the company that a first start prints. */
export function printedCompany(stdout: string): string {
  const id = /Company\s+Demo \(([0-9a-f-]{36})\)/.exec(stdout)?.[1];
  if (id === undefined) throw new Error(`No company in: ${stdout}`);
  return id;
}

/** The pids of Postgres processes that work below a folder. */
export async function postgresProcesses(folder: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const cwd = await readlink(`/proc/${name}/cwd`).catch(() => "");
    if (cwd.startsWith(`${folder}/`)) found.push(Number(name));
  }
  return found;
}

/** The server of a data folder. */
export async function postmasterOf(dataDir: string): Promise<number> {
  const pidFile = await readFile(join(dataDir, "pgdata/postmaster.pid"), "utf8");
  return Number(pidFile.split("\n")[0]);
}
