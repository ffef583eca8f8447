import type { ChildProcess } from "node:child_process";
import { open, rename } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { accepts } from "./connect.ts";
import { statIfExists } from "./files.ts";
import type { Launch } from "./launcher.ts";
import { folderArgument } from "./launcher.ts";
import { CLUSTER_SETTING } from "./leftover.ts";
import type { OsUser } from "./os-user.ts";

const READY_TIMEOUT_MS = 120_000;
const FAST_SHUTDOWN_MS = 15_000;
const LOG_BYTES_MAX = 10 * 1024 * 1024;

export interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The addresses of a server. */
export interface Place {
  port: number;
  /** False when another program has the port. Then only the socket works. */
  onTcp: boolean;
  /** The address for TCP connections. */
  listenAddress: string;
  socketFolder: string | null;
}

export interface ServerOptions {
  /** The path of the program postgres. */
  postgres: string;
  launch: Launch;
  user: OsUser | null;
  clusterDir: string;
  place: Place;
  settings: Record<string, string>;
  logFile: string;
}

/** The process of a server, ready or not. */
export interface Server {
  pid: number;
  exited: Promise<ServerExit>;
  stop: () => Promise<void>;
  /** The server's log since this start. */
  readLog(): Promise<string>;
}

/** Starts the process. */
export async function launchServer(options: ServerOptions): Promise<Server> {
  const { clusterDir, logFile } = options;
  await rotateLog(logFile);
  const log = await open(logFile, "a+", 0o600);
  const logStart = (await log.stat()).size;
  try {
    const stdio = ["ignore" as const, log.fd, log.fd];
    const args = serverArguments(options);
    const child = options.launch(options.postgres, args, { cwd: clusterDir, stdio });
    // This comes before any await: the end of a short-lived server would go unnoticed.
    const exited = watchExit(child);
    return {
      pid: child.pid ?? -1,
      exited,
      stop: () => stopServer(child, exited),
      readLog: () => readFrom(logFile, logStart),
    };
  } finally {
    await log.close();
  }
}

function serverArguments({ clusterDir, user, place, settings }: ServerOptions): string[] {
  const all = {
    timezone: "UTC",
    ...settings,
    listen_addresses: place.onTcp ? place.listenAddress : "",
    port: String(place.port),
    unix_socket_directories: place.socketFolder ?? "",
    logging_collector: "off",
    [CLUSTER_SETTING]: clusterDir,
  };
  const pairs = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return ["-D", folderArgument(clusterDir, user), ...pairs];
}

function watchExit(child: ChildProcess): Promise<ServerExit> {
  // Without setpriv, an orderly end of this process stops the server.
  const interrupt = (): void => void child.kill("SIGINT");
  process.once("exit", interrupt);
  const { promise, resolve } = Promise.withResolvers<ServerExit>();
  child.once("exit", (code, signal) => resolve({ code, signal }));
  child.once("error", () => resolve({ code: null, signal: null }));
  return promise.finally(() => process.removeListener("exit", interrupt));
}

async function stopServer(child: ChildProcess, exited: Promise<ServerExit>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGINT");
  const timer = setTimeout(() => child.kill("SIGQUIT"), FAST_SHUTDOWN_MS);
  await exited;
  clearTimeout(timer);
}

/** Waits for the server. False when it ended, the caller gave up, or it took too long. */
export async function isReady(
  server: Server,
  uri: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  let ended = false;
  void server.exited.then(() => (ended = true));
  while (!(await accepts(uri))) {
    if (ended || signal?.aborted === true || Date.now() > deadline) return false;
    await delay(20);
  }
  return !ended;
}

async function rotateLog(logFile: string): Promise<void> {
  const info = await statIfExists(logFile);
  if (info !== null && info.size > LOG_BYTES_MAX) await rename(logFile, `${logFile}.1`);
}

async function readFrom(logFile: string, position: number): Promise<string> {
  const file = await open(logFile, "r");
  try {
    const buffer = Buffer.alloc(8_000);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    return buffer.toString("utf8", 0, bytesRead).trim();
  } finally {
    await file.close();
  }
}
