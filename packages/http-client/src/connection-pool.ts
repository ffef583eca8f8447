import { Agent, Pool } from "undici";

import { StaleConnectionError, exchange } from "./exchange.ts";
import type { HopRequest, HopResponse } from "./exchange.ts";
import { createGuardedConnector } from "./guarded-connector.ts";
import type { ConnectorOptions } from "./guarded-connector.ts";
import { HttpClientError, withSent } from "./http-client-error.ts";
import { TrackedClient } from "./tracked-client.ts";

/** The options of a pool's connections. */
export interface ConnectionPoolOptions extends ConnectorOptions {
  maxConnectionsPerOrigin: number;
}

/** Connections to any number of origins. */
export interface ConnectionPool {
  /**
   * Sends one request and reads its whole response.
   *
   * @param stop aborted with an HttpClientError as its reason
   * @throws HttpClientError
   */
  exchange(hop: HopRequest, maxResponseBytes: number, stop: AbortSignal): Promise<HopResponse>;
  /** Aborts all exchanges, and connections that no request waits for any more. */
  close(): Promise<void>;
}

/** The bound is within the time to live of most DNS records. */
const CONNECTION_AGE_MS_MAX = 60_000;

/** The idempotent methods (RFC 9110, section 9.2.2). */
const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set([
  "DELETE",
  "GET",
  "HEAD",
  "OPTIONS",
  "PUT",
]);

/** Opens nothing before the first request. */
export function createConnectionPool(options: ConnectionPoolOptions): ConnectionPool {
  const connect = createGuardedConnector(options);
  const settings = {
    connect,
    allowH2: false,
    // A connection is replaced after this time, busy or idle, so that its name is resolved and judged again.
    keepAliveMaxTimeout: CONNECTION_AGE_MS_MAX,
  };
  const agent = new Agent({
    factory: (origin) =>
      new Pool(origin, {
        ...settings,
        connections: options.maxConnectionsPerOrigin,
        clientTtl: CONNECTION_AGE_MS_MAX,
        factory: (clientOrigin) => new TrackedClient(clientOrigin, connect, settings),
      }),
  });

  /** The repetition uses a fresh connection: other kept ones may be dead, too. */
  async function exchangeAfresh(
    hop: HopRequest,
    maxResponseBytes: number,
    stop: AbortSignal,
  ): Promise<HopResponse> {
    const client = new TrackedClient(hop.url.origin, connect, { allowH2: false, pipelining: 0 });
    try {
      return await exchange(client, hop, maxResponseBytes, stop);
    } catch (error) {
      throw error instanceof HttpClientError ? withSent(error, true) : error;
    } finally {
      void client.destroy();
    }
  }

  return {
    async exchange(hop, maxResponseBytes, stop) {
      try {
        return await exchange(agent, hop, maxResponseBytes, stop);
      } catch (error) {
        if (!(error instanceof StaleConnectionError) || !mayRepeat(hop)) throw error;
        return exchangeAfresh(hop, maxResponseBytes, stop);
      }
    },
    close: () => agent.destroy(),
  };
}

/** Whether a receiver recognizes a repeated request (ADR 25). */
function mayRepeat({ method, headers, isRepeatable = false }: HopRequest): boolean {
  return (
    isRepeatable ||
    IDEMPOTENT_METHODS.has(method) ||
    headers.some(([name]) => name.toLowerCase() === "idempotency-key")
  );
}
