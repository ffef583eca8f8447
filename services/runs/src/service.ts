import { fileURLToPath } from "node:url";
import { createCursorCodec, databaseErrorToAppError, listen, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createOutboxRelay } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { createSafeHttpClient } from "@workflow/http-client";
import { ApprovalsServiceService } from "@workflow/proto/runs/v1/approvals";
import { DeploymentsServiceService } from "@workflow/proto/runs/v1/deployments";
import { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import { SchedulesServiceService } from "@workflow/proto/runs/v1/schedules";
import { createRpcServer, createTokenVerifier } from "@workflow/rpc";
import type { RpcTls, VerificationKey } from "@workflow/rpc";
import { createScope, loop, rpcRequestMetrics } from "@workflow/service";
import type { Scope } from "@workflow/service";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { ServiceContext } from "./context.ts";
import { createDeploymentCache } from "./engine/deployment-cache.ts";
import type { DeploymentCache } from "./engine/deployment-cache.ts";
import type { EndHook } from "./engine/end-hooks.ts";
import { createApprovalDesk } from "./engine/approval-desk.ts";
import { createChildRuns } from "./engine/child-runs.ts";
import { releaseSlots } from "./concurrency/release-slots.ts";
import { runUpkeep } from "./engine/upkeep.ts";
import { wakeParents } from "./engine/wake-parents.ts";
import { createWakeUps } from "./engine/wake-ups.ts";
import type { WakeUps } from "./engine/wake-ups.ts";
import { NO_EMAIL } from "./email/no-email.ts";
import type { EmailClient } from "./email/send-email-client.ts";
import { NO_SECRETS } from "./secrets/no-secrets.ts";
import { cancelWaitedChildren } from "./operations/cancel-children.ts";
import { cancelRuns } from "./operations/cancel-runs.ts";
import { createEndedRuns, ENDED_CHANNEL } from "./engine/ended-runs.ts";
import type { EndedRuns } from "./engine/ended-runs.ts";
import { createRunStarter } from "./engine/run-starter.ts";
import { startRunWorker } from "./engine/run-worker.ts";
import { createExpressionPool } from "./expressions/expression-pool.ts";
import { createRunWatcher } from "./operations/run-watcher.ts";
import type { RunWatcher } from "./operations/run-watcher.ts";
import { bulkRuns } from "./rpc/bulk-runs.ts";
import { cancelRun } from "./rpc/cancel-run.ts";
import { decideApproval } from "./rpc/decide-approval.ts";
import { getRun } from "./rpc/get-run.ts";
import { getSchedule } from "./rpc/get-schedule.ts";
import { listApprovals } from "./rpc/list-approvals.ts";
import { listRunApprovals } from "./rpc/list-run-approvals.ts";
import { listRuns } from "./rpc/list-runs.ts";
import { putDeployment } from "./rpc/put-deployment.ts";
import { restartRun } from "./rpc/restart-run.ts";
import { retryRun } from "./rpc/retry-run.ts";
import { startRun } from "./rpc/start-run.ts";
import { startRuns } from "./rpc/start-runs.ts";
import { triggerSchedule } from "./rpc/trigger-schedule.ts";
import { updateSchedule } from "./rpc/update-schedule.ts";
import { watchRun } from "./rpc/watch-run.ts";
import type { SecretsClient } from "./secrets/resolve-secrets.ts";
import { recordScheduleOutcomes } from "./schedules/record-outcomes.ts";
import { startScheduler } from "./schedules/scheduler.ts";
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
  /** Where workers get the secrets that templates name; without it none exist. */
  secrets?: SecretsClient | undefined;
  /** The way out for e-mail; without it none can be sent. */
  email?: EmailClient | undefined;
  /** Lets steps call http and private addresses; for development and tests. */
  outboundAllowPrivate: boolean;
  /** Runs that this process executes at the same time. */
  workerConcurrency: number;
  /** How long a silent worker keeps its tasks, in milliseconds. */
  leaseMs?: number;
  /** The clock by which schedules fire; that of the machine by default. */
  now?: () => Date;
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
/** How long a change of a watched run may go unnoticed. */
const WATCH_INTERVAL_MS = 250;

/** The parts that API and worker have in common. */
interface Parts {
  database: Database;
  runtime: TaskRuntime;
  deployments: DeploymentCache;
  endedRuns: EndedRuns;
  endHooks: readonly EndHook[];
  wakeUps: WakeUps;
  onEvents: () => void;
  now: () => Date;
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
    wakeUps: createWakeUps({ database, runtime, logger }),
    deployments: createDeploymentCache(database, logger),
    endedRuns: createEndedRuns(),
    endHooks: [releaseSlots, wakeParents, recordScheduleOutcomes],
    onEvents: () => relay.wake(),
    now: options.now ?? (() => new Date()),
  };
}

async function startWorker(options: RunsServiceOptions, parts: Parts, scope: Scope): Promise<void> {
  const http = createSafeHttpClient({ allowPrivate: options.outboundAllowPrivate });
  scope.defer(() => http.close());
  const expressions = createExpressionPool();
  scope.defer(() => expressions.close());
  const { database, deployments, runtime, onEvents } = parts;
  const worker = await startRunWorker({
    ...parts,
    effects: {
      http,
      expressions,
      email: options.email ?? NO_EMAIL,
      approvals: createApprovalDesk(database, onEvents),
      children: createChildRuns({
        database,
        deployments,
        runtime,
        cancelRun: async (runId) => {
          const cancelled = await cancelRuns(parts, [runId], null);
          await cancelWaitedChildren(parts, cancelled);
        },
      }),
    },
    secrets: options.secrets ?? NO_SECRETS,
    cancelChildrenOf: (runIds) => {
      cancelWaitedChildren(parts, runIds).catch((error: unknown) => {
        options.logger.warn({ err: error }, "could not cancel the children of ended runs");
      });
    },
    logger: options.logger,
    concurrency: options.workerConcurrency,
  });
  scope.defer(() => worker.stop());
  const scheduler = startScheduler({ ...parts, logger: options.logger });
  scope.defer(() => scheduler.stop());
  const stopping = new AbortController();
  const upkeep = runUpkeep({ ...parts, logger: options.logger }, stopping.signal);
  scope.defer(() => {
    stopping.abort();
    return upkeep;
  });
}

async function startApi(options: RunsServiceOptions, parts: Parts, scope: Scope): Promise<string> {
  const { database, endedRuns } = parts;
  const { databaseUrl, logger } = options;
  const watching = startWatching(database, logger, scope);
  const subscription = await listen({
    connectionUri: databaseUrl,
    role: DATABASE_ROLE,
    channels: [ENDED_CHANNEL],
    onNotification: (_channel, payload) => {
      const runIds = payload.split(",");
      endedRuns.announce(runIds);
      if (watching.watcher.watches(runIds)) watching.look();
    },
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
    watcher: watching.watcher,
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
    retryRun: retryRun(context),
    restartRun: restartRun(context),
    bulkRuns: bulkRuns(context),
    watchRun: watchRun(context),
  });
  server.add(ApprovalsServiceService, {
    listRunApprovals: listRunApprovals(context),
    listApprovals: listApprovals(context),
    decideApproval: decideApproval(context),
  });
  server.add(SchedulesServiceService, {
    getSchedule: getSchedule(context),
    updateSchedule: updateSchedule(context),
    triggerSchedule: triggerSchedule(context),
  });
  server.add(DeploymentsServiceService, { putDeployment: putDeployment(context) });
  const bound = await server.listen(options.grpcAddress);
  server.setServing(true);
  return bound.address;
}

function startWatching(
  database: Database,
  logger: Logger,
  scope: Scope,
): { watcher: RunWatcher; look: () => void } {
  const stopping = new AbortController();
  let look = (): void => {};
  const watcher = createRunWatcher(database, () => look());
  const looking = loop({
    name: "watch-runs",
    signal: stopping.signal,
    intervalMs: WATCH_INTERVAL_MS,
    logger,
    run: () => watcher.poll(),
  });
  look = looking.wake;
  scope.defer(() => {
    stopping.abort();
    return looking.done;
  });
  return { watcher, look };
}

export { createSecretsClient } from "./secrets/resolve-secrets.ts";
export type { SecretsClient } from "./secrets/resolve-secrets.ts";
