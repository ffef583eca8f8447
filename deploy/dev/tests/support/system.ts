import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readlink, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, waitFor } from "@workflow/testkit";

const SOURCE = join(import.meta.dirname, "../../src");
const START_TIMEOUT_MS = 60_000;

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

const processes = new Set<ChildProcess>();
const folders = new Set<string>();

/** For afterAll: ends what a failed test left, and removes the folders. */
export async function cleanUp(): Promise<void> {
  for (const child of processes) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
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

/** A folder that every user can enter, removed by `cleanUp`. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "workflow-dev-")));
  folders.add(folder);
  return folder;
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
  };
}

/** Starts the system and waits until it is ready. */
export async function startSystem(settings: TestSettings): Promise<StartedSystem> {
  const started = launch([join(SOURCE, "start.ts")], settings);
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

/** Runs an admin command; spaces separate its words. */
export function runAdmin(settings: TestSettings, commandLine: string): Promise<Outcome> {
  return launch([join(SOURCE, "admin.ts"), ...commandLine.split(" ")], settings).ended;
}

/** Starts the system without waiting for it. */
export function launchStart(settings: TestSettings): RunningProcess {
  return launch([join(SOURCE, "start.ts")], settings);
}

/** Runs Node with nothing in its environment but these settings. */
export function launch(words: readonly string[], settings: TestSettings): RunningProcess {
  return launchProgram(process.execPath, words, settings);
}

/** Like `launch`, for any program. */
export function launchProgram(
  program: string,
  words: readonly string[],
  settings: TestSettings,
): RunningProcess {
  const child = spawn(program, words, {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  processes.add(child);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "close").then(() => ({ exitCode: child.exitCode, stdout, stderr }));
  return { child, stdout: () => stdout, ended };
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
