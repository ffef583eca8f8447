import { setTimeout as delay } from "node:timers/promises";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { LocalPostgres } from "@workflow/local-postgres";
import type { Logger } from "pino";
import { StartError } from "./start-error.ts";

const RESTARTS_MAX = 10;
const RESTART_PAUSE_MS = 1_000;
/** After so long, a server counts as healthy, and its end no longer counts towards the restarts. */
const HEALTHY_MS = 60_000;

export interface EmbeddedPostgresOptions {
  /** The data folder's absolute path. */
  dataDir: string;
  /** The highest number of connections of all services together. */
  connectionsMax: number;
  logger: Logger;
  /** Aborts a start that is under way. */
  signal: AbortSignal;
}

/** A Postgres server that is restarted when it ends by itself. */
export interface EmbeddedPostgres {
  connectionUri: string;
  /** Rejects when the server is gone for good. Never resolves. */
  lost: Promise<never>;
  stop(): Promise<void>;
}

/** Starts the embedded Postgres of a data folder. The caller holds the folder's lock. */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { logger } = options;
  const stopping = new AbortController();
  const lost = Promise.withResolvers<never>();
  // The promise may have no listener yet, and a stop needs none.
  lost.promise.catch(() => {});
  let server = await start(options, options.signal);
  const { connectionUri, port } = server;

  /** Restarts the server whenever it ends. Resolves when a stop is under way. */
  async function watch(): Promise<void> {
    let restarts = 0;
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      const exit = await server.exited;
      if (stopping.signal.aborted) return;
      logger.error(exit, "the embedded Postgres has ended by itself; starting it again");
      if (performance.now() - startedAt > HEALTHY_MS) restarts = 0;
      restarts = await restart(restarts);
      if (server.connectionUri !== connectionUri) {
        throw new StartError("Postgres could not be started again in its place.");
      }
    }
  }

  /** Starts the next server. Returns the number of starts, failed ones included. */
  async function restart(restarts: number): Promise<number> {
    for (let count = restarts + 1; ; count += 1) {
      if (count > RESTARTS_MAX) throw new StartError("Postgres ends again and again.");
      const pauseMs = count === 1 ? 0 : RESTART_PAUSE_MS;
      await delay(pauseMs, undefined, { signal: stopping.signal });
      try {
        server = await start(options, stopping.signal, port);
        return count;
      } catch (error) {
        if (stopping.signal.aborted) throw error;
        logger.error(error, "the embedded Postgres could not be started again");
      }
    }
  }

  const watched = watch().catch((error: unknown) => {
    if (!stopping.signal.aborted) lost.reject(error);
  });
  return {
    connectionUri,
    lost: lost.promise,
    async stop() {
      stopping.abort();
      await server.stop();
      await watched;
      // The server may have come up after the stop was requested.
      await server.stop();
    },
  };
}

/** The server's settings for `npm start`: safe against power loss, sized for one machine. */
function serverSettings(connectionsMax: number): Record<string, string> {
  return {
    max_connections: String(Math.max(200, connectionsMax + 50)),
    shared_buffers: "256MB",
    synchronous_commit: "on",
    // Compilation costs more than the short queries of this system take.
    jit: "off",
    // Fewer checkpoints run under load. Recovery after a crash still takes seconds.
    max_wal_size: "2GB",
    random_page_cost: "1.1",
    // Queues of tasks and events replace their rows quickly.
    autovacuum_naptime: "15s",
  };
}

/** @param port the former server's port, which the services go on using */
function start(
  { dataDir, connectionsMax }: EmbeddedPostgresOptions,
  signal: AbortSignal,
  port?: number,
): Promise<LocalPostgres> {
  const place = port === undefined ? {} : { port };
  return startLocalPostgres({
    dataDir,
    settings: serverSettings(connectionsMax),
    signal,
    ...place,
  });
}
