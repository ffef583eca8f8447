import type { ChildProcess } from "node:child_process";
import { open, mkdir, realpath, rename } from "node:fs/promises";
import { createServer } from "node:net";
import { isAbsolute, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { postgresBinaries } from "./binaries.ts";
import { clusterFolder, connectionUri, ensureCluster, writeAccess } from "./cluster.ts";
import { accepts } from "./connect.ts";
import { statIfExists } from "./files.ts";
import type { Launch } from "./launcher.ts";
import { createLauncher } from "./launcher.ts";
import { clearLeftovers } from "./leftover.ts";
import { serverUser } from "./os-user.ts";
import { closeSocketFolder, openSocketFolder } from "./socket-folder.ts";

export interface LocalPostgresOptions {
  /** Absolute path of the folder that holds the cluster; made when missing. */
  dataDir: string;
  /** Server settings by name, as in postgresql.conf. */
  settings?: Record<string, string>;
  /**
   * False, for tests, is fast but not safe: a crash of the server loses the last transactions, one
   * of the machine may ruin the cluster. Default true.
   */
  durable?: boolean;
  /** Where the server's log goes; `<dataDir>/postgres.log` when absent. */
  logFile?: string;
  /** Gives up a start that is under way. */
  signal?: AbortSignal;
}

export interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface LocalPostgres {
  /** The superuser's address of the database `postgres`; password included. */
  connectionUri: string;
  port: number;
  pid: number;
  /** Settles when the server has ended, by `stop` or by itself. Never rejects. */
  exited: Promise<ServerExit>;
  /** Ends the server: open sessions are rolled back, data is flushed. Harmless when repeated. */
  stop: () => Promise<void>;
}

const START_ATTEMPTS = 3;
const READY_TIMEOUT_MS = 120_000;
const FAST_SHUTDOWN_MS = 15_000;
const LOG_BYTES_MAX = 10 * 1024 * 1024;

const FAST_AND_UNSAFE = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };

/**
 * Starts the Postgres server of a data folder, and makes its cluster on first use. A server that an
 * earlier, killed process left behind is ended first; that two living processes do not share a
 * folder is for the caller to see to.
 *
 * @throws Error when the server cannot be started; the message ends with the server's own words
 */
export async function startLocalPostgres(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const { dataDir, durable = true, signal } = options;
  if (!isAbsolute(dataDir)) throw new Error(`The data folder must be absolute: ${dataDir}`);
  const { postgres, initdb } = postgresBinaries();
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const user = await serverUser(clusterFolder(dataDir));
  const launch = await createLauncher(user, [clusterFolder(dataDir), postgres, initdb]);
  const access = await ensureCluster(dataDir, user, launch, durable);
  const clusterDir = await realpath(clusterFolder(dataDir));
  await clearLeftovers(clusterDir);

  const logFile = options.logFile ?? join(dataDir, "postgres.log");
  const settings = { ...(durable ? {} : FAST_AND_UNSAFE), ...options.settings };
  let complaint = "";
  for (let attempt = 1; attempt <= START_ATTEMPTS; attempt += 1) {
    signal?.throwIfAborted();
    // Another program may take the port between the test and the start: then it is another port's turn.
    const port = await freePort(attempt === 1 ? access.port : null);
    const socketFolder = await openSocketFolder(clusterDir, user);
    const place = { port, socketFolder };
    const server = await launchServer(launch, postgres, clusterDir, place, settings, logFile);
    const uri = connectionUri({ ...access, socketFolder }, port);
    if (await isReady(server, uri, signal)) {
      await writeAccess(dataDir, { ...access, port, socketFolder });
      const { pid, exited } = server;
      const stop = async (): Promise<void> => {
        await server.stop();
        await closeSocketFolder(socketFolder);
      };
      return { connectionUri: uri, port, pid, exited, stop };
    }
    await server.stop();
    complaint = await server.readLog();
    signal?.throwIfAborted();
  }
  throw new Error(`Postgres did not start in ${clusterDir}:\n${complaint}`);
}

interface Server {
  pid: number;
  exited: Promise<ServerExit>;
  stop: () => Promise<void>;
  /** What the server has logged since this start. */
  readLog(): Promise<string>;
}

async function launchServer(
  launch: Launch,
  program: string,
  clusterDir: string,
  { port, socketFolder }: { port: number; socketFolder: string | null },
  settings: Record<string, string>,
  logFile: string,
): Promise<Server> {
  const fixed = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: socketFolder ?? "",
    logging_collector: "off",
  };
  const args = ["-D", clusterDir];
  for (const [name, value] of Object.entries({ timezone: "UTC", ...settings, ...fixed })) {
    args.push("-c", `${name}=${value}`);
  }
  await rotateLog(logFile);
  const log = await open(logFile, "a+", 0o600);
  const logStart = (await log.stat()).size;
  let child: ChildProcess;
  try {
    child = launch(program, args, ["ignore", log.fd, log.fd]);
  } finally {
    await log.close();
  }
  const exited = watchExit(child);
  return {
    pid: child.pid ?? -1,
    exited,
    stop: () => stopServer(child, exited),
    readLog: () => readFrom(logFile, logStart),
  };
}

function watchExit(child: ChildProcess): Promise<ServerExit> {
  // Where the kernel does not do it (no setpriv), an orderly end of this process takes the server along.
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

/** Waits for the server; false when it ended, when the caller gave up or when it took too long. */
async function isReady(
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

/** The wanted port when nobody listens there, else one that the system picks. */
async function freePort(wanted: number | null): Promise<number> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<number | null>();
  server.once("error", () => resolve(null));
  server.listen({ host: "127.0.0.1", port: wanted ?? 0, exclusive: true }, () => {
    const address = server.address();
    server.close(() => resolve(typeof address === "object" && address ? address.port : null));
  });
  const port = await promise;
  if (port !== null) return port;
  if (wanted === null) throw new Error("No free port on 127.0.0.1.");
  return freePort(null);
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
