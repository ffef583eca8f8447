import { listen, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createOutboxRelay } from "@workflow/events";
import type { Scope } from "@workflow/service";
import { releaseSlots } from "./concurrency/release-slots.ts";
import { createDeploymentCache } from "./engine/deployment-cache.ts";
import type { DeploymentCache } from "./engine/deployment-cache.ts";
import type { EndHook } from "./engine/end-hooks.ts";
import { createEndedRuns } from "./engine/ended-runs.ts";
import type { EndedRuns } from "./engine/ended-runs.ts";
import { wakeParents } from "./engine/wake-parents.ts";
import { createWakeUps } from "./engine/wake-ups.ts";
import type { WakeUps } from "./engine/wake-ups.ts";
import type { RunsServiceOptions } from "./options.ts";
import { recordScheduleOutcomes } from "./schedules/record-outcomes.ts";
import type { TaskRuntime } from "./task-runtime/port.ts";
import { createPostgresTaskRuntime } from "./task-runtime/postgres.ts";

/** The database role that can use this service's schema and no other. */
export const DATABASE_ROLE = "workflow_runs";

/** The parts that API and worker have in common. */
export interface Parts {
  database: Database;
  runtime: TaskRuntime;
  deployments: DeploymentCache;
  endedRuns: EndedRuns;
  endHooks: readonly EndHook[];
  wakeUps: WakeUps;
  onEvents: () => void;
  now: () => Date;
}

/** Opens what both halves need; the scope closes it again. */
export async function openParts(options: RunsServiceOptions, scope: Scope): Promise<Parts> {
  const { databaseUrl, databasePoolSize, logger, bus } = options;
  const database = await openDatabase({
    connectionUri: databaseUrl,
    role: DATABASE_ROLE,
    maxConnections: databasePoolSize,
    applicationName: "runs",
    // A worker that froze while it was writing would keep others from taking over what it holds.
    ...(options.leaseMs === undefined ? {} : { idleInTransactionTimeoutMs: options.leaseMs }),
    onError: (error) => logger.warn({ err: error }, "database connection lost"),
  });
  scope.defer(() => database.end());
  const relay = createOutboxRelay({ database, schema: "runs", stream: "runs", bus, logger });
  scope.defer(() => relay.stop());
  const runtime = createPostgresTaskRuntime({
    database,
    logger,
    ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
    listen: ({ channels, onNotification, onReconnect }) =>
      listen({
        connectionUri: databaseUrl,
        role: DATABASE_ROLE,
        channels: [...channels],
        onNotification,
        onReconnect,
        onError: (error) => logger.warn({ err: error }, "notifications are interrupted"),
      }),
  });
  return {
    database,
    runtime,
    wakeUps: createWakeUps({ database, runtime, logger }),
    deployments: createDeploymentCache(database, logger),
    endedRuns: createEndedRuns(),
    endHooks: [releaseSlots, wakeParents, recordScheduleOutcomes],
    onEvents: () => relay.wake(),
    now: options.now ?? (() => new Date()),
  };
}
