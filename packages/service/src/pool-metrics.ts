import type { Database } from "@workflow/db";
import type { Registry } from "prom-client";
import { watchGauge } from "./watched-gauge.ts";

/**
 * Shows the use of a pool of Postgres connections.
 *
 * @param pool the pool's name, such as `runs-engine`
 * @returns removes the metric
 */
export function watchPool(
  registry: Registry | undefined,
  pool: string,
  database: Database,
): () => void {
  if (registry === undefined) return () => {};
  const endConnections = watchGauge(
    registry,
    {
      name: "database_connections",
      help: "Connections to Postgres, by pool and by what they do.",
      labelNames: ["pool", "state"],
    },
    () => {
      const { acquiredConnections, idleConnections, pendingConnections } = database.state();
      return [
        [{ pool, state: "busy" }, acquiredConnections],
        [{ pool, state: "idle" }, idleConnections],
        [{ pool, state: "opening" }, pendingConnections],
      ];
    },
  );
  const endWaiting = watchGauge(
    registry,
    {
      name: "database_connection_waiters",
      help: "Queries and transactions that wait for a connection to Postgres.",
      labelNames: ["pool"],
    },
    () => [[{ pool }, database.state().waitingClients]],
  );
  return () => {
    endConnections();
    endWaiting();
  };
}
