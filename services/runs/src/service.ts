import { fileURLToPath } from "node:url";
import { createCursorCodec, databaseErrorToAppError, listen, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createOutboxRelay } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { createSafeHttpClient } from "@workflow/http-client";
import { DeploymentsServiceService } from "@workflow/proto/runs/v1/deployments";
import { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import { createRpcServer, createTokenVerifier } from "@workflow/rpc";
import type { RpcTls, VerificationKey } from "@workflow/rpc";
import { createScope, loop, rpcRequestMetrics } from "@workflow/service";
import type { Scope } from "@workflow/service";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { ServiceContext } from "./context.ts";
import { createDeploymentCache } from "./engine/deployment-cache.ts";
import type { DeploymentCache } from "./engine/deployment-cache.ts";
import { createEndedRuns, ENDED_CHANNEL } from "./engine/ended-runs.ts";
import type { EndedRuns } from "./engine/ended-runs.ts";
import { createRunStarter } from "./engine/run-starter.ts";
import { startRunWorker } from "./engine/run-worker.ts";
import { createExpressionPool } from "./expressions/expression-pool.ts";
import { cancelRun } from "./rpc/cancel-run.ts";
import { getRun } from "./rpc/get-run.ts";
import { listRuns } from "./rpc/list-runs.ts";
import { putDeployment } from "./rpc/put-deployment.ts";
import { startRun } from "./rpc/start-run.ts";
import { startRuns } from "./rpc/start-runs.ts";
import { getCursorKey } from "./store/cursor-key.ts";
import { deleteExpiredKeys } from "./store/start-runs.ts";
import type { TaskRuntime } from "./task-runtime/port.ts";
import { createPostgresTaskRuntime } from "./task-runtime/postgres.ts";

/** Which halves of the service a process runs. */
export type RunsRole = "all" | "api" | "worker";

/** What the service needs from its surroundings. */
export interface RunsServiceOptions {
  /** `all` is API and worker in one process. */
  role: RunsRole;
  databaseUrl: string;
  databasePoolSize: number;
  /** Where the API listens: `host:port`, port 0 for a free one, or `unix:/path`. */
  grpcAddress: string;
  /** Whose tokens callers may show. */
  tokenPublicKeys: readonly VerificationKey[];
  tls?: RpcTls | undefined;
  /** Where run lifecycle events are published. */
  bus: EventBus;
  /** Lets steps call http and private addresses; for development and tests. */
  outboundAllowPrivate: boolean;
  /** Runs that this process executes at the same time. */
  workerConcurrency: number;
  /** How long a silent worker keeps its tasks, in milliseconds. */
  leaseMs?: number;
  logger: Logger;
  /** Where the service's metrics are registered; without one none are taken. */
  metricsRegistry?: Registry | undefined;
}

/** A running service. */
export interface RunningService {
  /** The address the API is bound to; absent in a process that only works. */
  grpcAddress?: string;
  /** Finishes what is under way and gives everything back. */
  stop(): Promise<void>;
}

const DATABASE_ROLE = "workflow_runs";
const PROTO_ROOT = fileURLToPath(new URL("../../../proto", import.meta.url));
const KEYS_INTERVAL_MS = 60_000;
const KEYS_BATCH = 5_000;

/** The parts that API and worker have in common. */
interface Parts {
  database: Database;
  runtime: TaskRuntime;
  deployments: DeploymentCache;
  endedRuns: EndedRuns;
  onEvents: () => void;
}

/** Starts the execution plane. Rejects, leaving nothing behind, when a part of it cannot start. */
export async function startRunsService(options: RunsServiceOptions): Promise<RunningService> {
  const scope = createScope();
  return scope.guard(async () => {
    const parts = await openParts(options, scope);
    if (options.role !== "api") await startWorker(options, parts, scope);
    const grpcAddress =
      options.role === "worker" ? undefined : await startApi(options, parts, scope);
    return {
      ...(grpcAddress === undefined ? {} : { grpcAddress }),
      stop: () => scope.close(),
    };
  });
}

async function openParts(options: RunsServiceOptions, scope: Scope): Promise<Parts> {
  const { databaseUrl, databasePoolSize, logger, bus } = options;
  const database = await openDatabase({
    connectionUri: databaseUrl,
    role: DATABASE_ROLE,
    maxConnections: databasePoolSize,
    applicationName: "runs",
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
    deployments: createDeploymentCache(database, logger),
    endedRuns: createEndedRuns(),
    onEvents: () => relay.wake(),
  };
}

async function startWorker(options: RunsServiceOptions, parts: Parts, scope: Scope): Promise<void> {
  const http = createSafeHttpClient({ allowPrivate: options.outboundAllowPrivate });
  scope.defer(() => http.close());
  const expressions = createExpressionPool();
  scope.defer(() => expressions.close());
  const worker = await startRunWorker({
    ...parts,
    http,
    expressions,
    logger: options.logger,
    concurrency: options.workerConcurrency,
  });
  scope.defer(() => worker.stop());
}

async function startApi(options: RunsServiceOptions, parts: Parts, scope: Scope): Promise<string> {
  const { database, endedRuns } = parts;
  const { databaseUrl, logger } = options;
  const subscription = await listen({
    connectionUri: databaseUrl,
    role: DATABASE_ROLE,
    channels: [ENDED_CHANNEL],
    onNotification: (_channel, payload) => endedRuns.announce(payload.split(",")),
    onReconnect: () => endedRuns.recheck(),
    onError: (error) => logger.warn({ err: error }, "notifications are interrupted"),
  });
  scope.defer(() => subscription.stop());
  const stopping = new AbortController();
  const purge = loop({
    name: "purge-idempotency-keys",
    signal: stopping.signal,
    intervalMs: KEYS_INTERVAL_MS,
    logger,
    run: async () => {
      while ((await deleteExpiredKeys(database, KEYS_BATCH)) === KEYS_BATCH);
    },
  });
  scope.defer(() => {
    stopping.abort();
    return purge.done;
  });
  const context: ServiceContext = {
    ...parts,
    cursors: createCursorCodec(await getCursorKey(database)),
    starter: createRunStarter(parts),
  };
  const server = createRpcServer({
    logger,
    verifier: createTokenVerifier({ publicKeys: options.tokenPublicKeys }),
    toAppError: databaseErrorToAppError,
    tls: options.tls,
    protoRoot: PROTO_ROOT,
    ...(options.metricsRegistry === undefined
      ? {}
      : { onRequest: rpcRequestMetrics(options.metricsRegistry) }),
  });
  scope.defer(() => server.close());
  server.add(RunsServiceService, {
    startRun: startRun(context),
    startRuns: startRuns(context),
    getRun: getRun(context),
    listRuns: listRuns(context),
    cancelRun: cancelRun(context),
  });
  server.add(DeploymentsServiceService, { putDeployment: putDeployment(context) });
  const bound = await server.listen(options.grpcAddress);
  server.setServing(true);
  return bound.address;
}
