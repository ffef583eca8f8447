import { setTimeout as delay } from "node:timers/promises";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { LocalPostgres } from "@workflow/local-postgres";
import type { Logger } from "pino";
import { StartError } from "./start-error.ts";

const RESTARTS_MAX = 5;
const RESTART_PAUSE_MS = 1_000;
/** A server that ran for this long was healthy: its end does not count towards the restarts. */
const HEALTHY_MS = 60_000;

export interface EmbeddedPostgresOptions {
  /** Absolute path. */
  dataDir: string;
  /** Connections that all services together may open. */
  connectionsMax: number;
  logger: Logger;
  /** Gives up a start that is under way. */
  signal: AbortSignal;
}

/** A Postgres server that is started again when it ends by itself. */
export interface EmbeddedPostgres {
  connectionUri: string;
  /** Rejects when the server is gone for good. Never resolves. */
  lost: Promise<never>;
  stop(): Promise<void>;
}

/** Starts the embedded Postgres of a data folder; whoever calls holds the folder's lock. */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { logger } = options;
  const stopping = new AbortController();
  const lost = Promise.withResolvers<never>();
  // Nobody may be listening yet, and a stop needs nobody to.
  lost.promise.catch(() => {});
  let server = await start(options, options.signal);
  const { connectionUri } = server;

  async function watch(): Promise<void> {
    let restarts = 0;
    for (;;) {
      const startedAt = performance.now();
      const exit = await server.exited;
      if (stopping.signal.aborted) return;
      logger.error(exit, "the embedded Postgres has ended by itself; starting it again");
      if (performance.now() - startedAt > HEALTHY_MS) restarts = 0;
      restarts += 1;
      if (restarts > RESTARTS_MAX) throw new StartError("Postgres ends again and again.");
      await delay(restarts === 1 ? 0 : RESTART_PAUSE_MS, undefined, { signal: stopping.signal });
      server = await start(options, stopping.signal);
      if (server.connectionUri !== connectionUri) {
        throw new StartError("Postgres could not be started again on its port.");
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
      // It may have been on its way up.
      await server.stop();
    },
  };
}

/** Settings of the server for `npm start`: safe against power loss, sized for one machine. */
function serverSettings(connectionsMax: number): Record<string, string> {
  return {
    max_connections: String(Math.max(200, connectionsMax + 50)),
    shared_buffers: "256MB",
    synchronous_commit: "on",
    // Compiling costs more than the short queries here take.
    jit: "off",
    // Fewer checkpoints under load; recovery after a crash still takes seconds.
    max_wal_size: "2GB",
    random_page_cost: "1.1",
    // Queues of tasks and events turn their rows over quickly.
    autovacuum_naptime: "15s",
  };
}

function start(options: EmbeddedPostgresOptions, signal: AbortSignal): Promise<LocalPostgres> {
  const { dataDir, connectionsMax } = options;
  return startLocalPostgres({ dataDir, settings: serverSettings(connectionsMax), signal });
}
