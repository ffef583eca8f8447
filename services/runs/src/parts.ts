import type { Scope } from "@workflow/async";
import { listen, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createOutboxRelay } from "@workflow/events";
import { watchPool } from "@workflow/service";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import { releaseSlots } from "./concurrency/release-slots.ts";
import { createDeploymentCache } from "./deployments/deployment-cache.ts";
import type { DeploymentCache } from "./deployments/deployment-cache.ts";
import { DESCENDANTS_MAX } from "./domain/start-fault.ts";
import { createEndedRuns } from "./engine/ended-runs.ts";
import type { EndedRuns } from "./engine/ended-runs.ts";
import { wakeParents } from "./engine/wake-parents.ts";
import { createWakeUps } from "./engine/wake-ups.ts";
import type { WakeUps } from "./engine/wake-ups.ts";
import type { EndHook } from "./journal/end-hooks.ts";
import { createEngineMetrics } from "./metrics/engine-metrics.ts";
import type { EngineMetrics } from "./metrics/engine-metrics.ts";
import type { RunsServiceOptions } from "./options.ts";
import { recordScheduleOutcomes } from "./schedules/record-outcomes.ts";
import { createAcceptedRuns } from "./starting/accepted-runs.ts";
import type { AcceptedRuns } from "./starting/accepted-runs.ts";
import { Backlog } from "./starting/backlog.ts";
import { startWorkerPools } from "./starting/worker-pools.ts";
import type { WorkerPools } from "./starting/worker-pools.ts";
import { makePartitions } from "./store/partitions.ts";
import { createPostgresTaskRuntime } from "./task-runtime/postgres.ts";
import type { TaskRuntime } from "./task-runtime/runtime.ts";

/** The database role that can use this service's schema and no other. */
export const DATABASE_ROLE = "workflow_runs";

/** Connections for claims, heartbeats and the journal, which must not wait for callers' queries. */
const ENGINE_CONNECTIONS = 4;
const COMPANY_BACKLOG_MAX = 200_000;
/** A write of the journal that takes longer is repeated run by run. */
const ENGINE_STATEMENT_MS = 10_000;

const PARTITIONS_INTERVAL_MS = 60 * 60 * 1_000;

/** The parts that API and worker have in common. */
export interface Parts {
  database: Database;
  /** The same database over connections that only the engine uses. */
  engineDatabase: Database;
  runtime: TaskRuntime;
  /** Absent where metrics are not collected. */
  engineMetrics: EngineMetrics | undefined;
  acceptedRuns: AcceptedRuns;
  /** The pools of workers that execute the runs. */
  pools: WorkerPools;
  deployments: DeploymentCache;
  endedRuns: EndedRuns;
  backlog: Backlog;
  /** How many runs may descend from one (D60). */
  descendantsMax: number;
  endHooks: readonly EndHook[];
  wakeUps: WakeUps;
  onEvents: () => void;
  tracer: Tracer | undefined;
  now: () => Date;
}

/** Opens what both halves need. The scope closes it again. */
export async function openParts(options: RunsServiceOptions, scope: Scope): Promise<Parts> {
  const { logger, bus } = options;
  const { database, engineDatabase } = await openDatabases(options, scope);
  await keepPartitions(database, logger, scope);
  const relay = createOutboxRelay({
    database,
    schema: "runs",
    stream: "runs",
    bus,
    logger,
    metricsRegistry: options.metricsRegistry,
  });
  scope.defer(() => relay.stop());
  const engineMetrics = options.metricsRegistry && createEngineMetrics(options.metricsRegistry);
  const runtime = createRuntime(options, { database, engineDatabase, engineMetrics });
  const deployments = createDeploymentCache(database, logger, options.metricsRegistry);
  const pools = await startWorkerPools({ database, logger }, scope);
  return {
    database,
    engineDatabase,
    runtime,
    engineMetrics,
    pools,
    acceptedRuns: createAcceptedRuns({ runtime, pools, deployments }),
    wakeUps: createWakeUps({ database, runtime, logger }),
    deployments,
    endedRuns: createEndedRuns(),
    backlog: new Backlog({
      database,
      pendingMax: options.companyBacklogMax ?? COMPANY_BACKLOG_MAX,
      logger,
    }),
    descendantsMax: options.descendantsMax ?? DESCENDANTS_MAX,
    endHooks: [releaseSlots, wakeParents, recordScheduleOutcomes],
    onEvents: () => relay.wake(),
    tracer: options.tracer,
    now: options.now ?? (() => new Date()),
  };
}

/** Opens the service's database twice: for callers, and for the engine, which must not wait for these. */
async function openDatabases(
  options: RunsServiceOptions,
  scope: Scope,
): Promise<Pick<Parts, "database" | "engineDatabase">> {
  const { databaseUrl, databasePoolSize, logger } = options;
  const database = await openDatabase({
    connectionUri: databaseUrl,
    role: DATABASE_ROLE,
    maxConnections: databasePoolSize,
    applicationName: "runs",
    // Lists over 27 partitions take 1.5 to 4.5 ms with generic plans, and 20 to 60 ms when planned for
    // their values.
    genericPlans: true,
    ...(options.statementTimeoutMs === undefined
      ? {}
      : { statementTimeoutMs: options.statementTimeoutMs }),
    // A worker that froze while it was writing would keep others from taking over what it holds.
    ...(options.leaseMs === undefined ? {} : { idleInTransactionTimeoutMs: options.leaseMs }),
    onError: (error) => logger.warn({ err: error }, "database connection lost"),
  });
  scope.defer(() => database.end());
  scope.defer(watchPool(options.metricsRegistry, "runs", database));
  const engineDatabase =
    options.role === "api"
      ? database
      : await openDatabase({
          connectionUri: databaseUrl,
          role: DATABASE_ROLE,
          maxConnections: ENGINE_CONNECTIONS,
          genericPlans: true,
          applicationName: "runs-engine",
          statementTimeoutMs: options.engineStatementTimeoutMs ?? ENGINE_STATEMENT_MS,
          ...(options.leaseMs === undefined ? {} : { idleInTransactionTimeoutMs: options.leaseMs }),
          onError: (error) => logger.warn({ err: error }, "database connection lost"),
        });
  if (engineDatabase !== database) {
    scope.defer(() => engineDatabase.end());
    scope.defer(watchPool(options.metricsRegistry, "runs-engine", engineDatabase));
  }
  return { database, engineDatabase };
}

function createRuntime(
  options: RunsServiceOptions,
  {
    database,
    engineDatabase,
    engineMetrics,
  }: Pick<Parts, "database" | "engineDatabase" | "engineMetrics">,
): TaskRuntime {
  const { databaseUrl, logger } = options;
  return createPostgresTaskRuntime({
    database,
    workerDatabase: engineDatabase,
    logger,
    observer: engineMetrics,
    pool: options.workerPool,
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
}

/** A run is accepted or executed only after its partition exists, and none lacks one later. */
async function keepPartitions(database: Database, logger: Logger, scope: Scope): Promise<void> {
  await makePartitions(database);
  scope.loop({
    name: "make-partitions",
    intervalMs: PARTITIONS_INTERVAL_MS,
    logger,
    run: () => makePartitions(database),
  });
}
