import { mkdir, realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Access } from "./cluster.ts";
import { clusterFolder, connectionUri, ensureCluster, writeAccess } from "./cluster.ts";
import { createLauncher } from "./launcher.ts";
import { clearLeftovers } from "./leftover.ts";
import { serverUser } from "./os-user.ts";
import { findPort, isFree } from "./ports.ts";
import { reachableBinaries } from "./reachable-binaries.ts";
import type { Place, Server, ServerExit } from "./server.ts";
import { isReady, launchServer } from "./server.ts";
import { closeSocketFolder, openSocketFolder } from "./socket-folder.ts";

export interface LocalPostgresOptions {
  /** Absolute path of the folder that holds the cluster; made when missing. */
  dataDir: string;
  /** Server settings by name, as in postgresql.conf. */
  settings?: Record<string, string>;
  /**
   * Whether the cluster survives a loss of power; true by default. False, for tests, is faster: a crash
   * of the server loses the last transactions, and a crash of the machine may destroy the cluster.
   */
  durable?: boolean;
  /** The file of the server's log; `<dataDir>/postgres.log` by default. */
  logFile?: string;
  /**
   * The required port, that of a former server. By default the last used port, or another one when that
   * is busy.
   */
  port?: number;
  /**
   * The address for connections besides the Unix socket; 127.0.0.1 by default. `hba_file` decides who
   * may connect from other machines.
   */
  listenAddress?: string;
  /** A program with arguments that starts the server, such as `ip netns exec <name>`; none by default. */
  launcher?: readonly string[];
  /** Cancels a start. */
  signal?: AbortSignal;
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
const ATTEMPT_PAUSE_MS = 500;

const FAST_AND_UNSAFE = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };

/**
 * Starts the Postgres server of a data folder, and creates its cluster on first use. A server that a
 * killed process left behind is ended first. The caller must make sure that no two living processes
 * share a folder.
 *
 * @throws Error when the server cannot be started; the message ends with the server's own message
 */
export async function startLocalPostgres(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const { dataDir, durable = true, signal } = options;
  if (!isAbsolute(dataDir)) throw new Error(`The data folder must be absolute: ${dataDir}`);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const user = await serverUser(clusterFolder(dataDir));
  const launch = await createLauncher(user);
  const launchThere = await createLauncher(user, options.launcher);
  const { initdb, postgres } = await reachableBinaries(user, launch);
  const access = await ensureCluster(dataDir, { initdb, launch, user, durable });
  const clusterDir = await realpath(clusterFolder(dataDir));
  const settings = { ...(durable ? {} : FAST_AND_UNSAFE), ...options.settings };
  const logFile = options.logFile ?? join(dataDir, "postgres.log");

  let complaint = "";
  for (let attempt = 1; attempt <= START_ATTEMPTS; attempt += 1) {
    if (attempt > 1) await delay(ATTEMPT_PAUSE_MS);
    await clearLeftovers(clusterDir, signal);
    signal?.throwIfAborted();
    const socketFolder = await openSocketFolder(clusterDir, user);
    // Another program may take the port between the check and the start, so several attempts are made.
    const place = await choosePlace(options.port, access.port, socketFolder);
    const server = await launchServer({
      postgres,
      launch: launchThere,
      user,
      clusterDir,
      place: { ...place, listenAddress: options.listenAddress ?? "127.0.0.1" },
      settings,
      logFile,
    });
    const reached = { ...access, port: place.port, socketFolder };
    if (await isReady(server, connectionUri(reached, place.port), signal)) {
      await writeAccess(dataDir, reached);
      return toLocalPostgres(server, reached);
    }
    await server.stop();
    await closeSocketFolder(socketFolder);
    complaint = await server.readLog();
    signal?.throwIfAborted();
  }
  throw new Error(`Postgres did not start in ${clusterDir}:\n${complaint}`);
}

async function choosePlace(
  insisted: number | undefined,
  last: number | null,
  socketFolder: string | null,
): Promise<Omit<Place, "listenAddress">> {
  if (insisted === undefined) return { port: await findPort(last), onTcp: true, socketFolder };
  // While a server is down, another program's outgoing connection may take its port.
  const onTcp = socketFolder === null || (await isFree(insisted));
  return { port: insisted, onTcp, socketFolder };
}

function toLocalPostgres(server: Server, access: Access & { port: number }): LocalPostgres {
  const { port, socketFolder } = access;
  return {
    connectionUri: connectionUri(access, port),
    port,
    pid: server.pid,
    exited: server.exited,
    async stop() {
      await server.stop();
      await closeSocketFolder(socketFolder);
    },
  };
}
