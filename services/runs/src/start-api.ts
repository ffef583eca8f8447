import { fileURLToPath } from "node:url";
import { Shares } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { createAuditTrail } from "@workflow/audit";
import { createCursorCodec, databaseErrorToAppError, listen } from "@workflow/db";
import type { Database } from "@workflow/db";
import { ApprovalsServiceService } from "@workflow/proto/runs/v1/approvals";
import { DeploymentsServiceService } from "@workflow/proto/runs/v1/deployments";
import { RunEventsServiceService } from "@workflow/proto/runs/v1/run_events";
import { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import { SchedulesServiceService } from "@workflow/proto/runs/v1/schedules";
import { RunStatsServiceService } from "@workflow/proto/runs/v1/stats";
import { TriggersServiceService } from "@workflow/proto/runs/v1/triggers";
import { createRevokedTokens, createRpcServer, createTokenVerifier } from "@workflow/rpc";
import type { RpcServer } from "@workflow/rpc";
import { AnswerTurns, rpcRequestMetrics } from "@workflow/service";
import type { ServiceContext } from "./context.ts";
import { ENDED_CHANNEL } from "./engine/ended-runs.ts";
import { createRunWatcher } from "./operations/run-watcher.ts";
import type { RunWatcher } from "./operations/run-watcher.ts";
import { StatisticsTurns } from "./operations/statistics-turns.ts";
import type { RunsServiceOptions } from "./options.ts";
import { DATABASE_ROLE } from "./parts.ts";
import type { Parts } from "./parts.ts";
import { bulkRuns } from "./rpc/bulk-runs.ts";
import { cancelRun } from "./rpc/cancel-run.ts";
import { createContentReader } from "./deployments/content-reader.ts";
import { checkDeployment } from "./rpc/check-deployment.ts";
import { decideApproval } from "./rpc/decide-approval.ts";
import { getRunStats } from "./rpc/get-run-stats.ts";
import { getRunStatuses } from "./rpc/get-run-statuses.ts";
import { getRunStep } from "./rpc/get-run-step.ts";
import { getRun } from "./rpc/get-run.ts";
import { getSchedule } from "./rpc/get-schedule.ts";
import { listApprovals } from "./rpc/list-approvals.ts";
import { listEndEvents } from "./rpc/list-end-events.ts";
import { listRunApprovals } from "./rpc/list-run-approvals.ts";
import { listRunSteps } from "./rpc/list-run-steps.ts";
import { listRuns } from "./rpc/list-runs.ts";
import { putDeployment } from "./rpc/put-deployment.ts";
import { readRunPayloads } from "./rpc/read-run-payloads.ts";
import { readRun } from "./rpc/read-run.ts";
import { restartRun } from "./rpc/restart-run.ts";
import { retryRun } from "./rpc/retry-run.ts";
import { startRun } from "./rpc/start-run.ts";
import { startRuns } from "./rpc/start-runs.ts";
import { startRunsAndWait } from "./rpc/start-runs-and-wait.ts";
import { startTriggeredRuns } from "./rpc/start-triggered-runs.ts";
import { triggerSchedule } from "./rpc/trigger-schedule.ts";
import { updateSchedule } from "./rpc/update-schedule.ts";
import { watchRun } from "./rpc/watch-run.ts";
import { RunStarter } from "./starting/run-starter.ts";
import { getCursorKey } from "./store/cursor-key.ts";
import { deleteExpiredKeys } from "./store/start-runs.ts";
import { EventStarter } from "./triggers/event-starter.ts";

const PROTO_ROOT = fileURLToPath(new URL("../../../proto", import.meta.url));
const MIB = 1024 * 1024;
/**
 * Bytes of large runs that are being read, by company and in all. A reader counts with the documents of
 * its run and 8 MiB. In fact it holds one piece of these at a time.
 */
const READING_BYTES = { perTenant: 32 * MIB, total: 96 * MIB };
const SYNC_WAITS_MAX = 10_000;
const COMPANY_SYNC_WAITS_MAX = 1_000;
const WATCHERS_MAX = 10_000;
const COMPANY_WATCHERS_MAX = 1_000;
const KEYS_INTERVAL_MS = 60_000;
const KEYS_BATCH = 5_000;
/** How long a change of a watched run may go unnoticed. */
const WATCH_INTERVAL_MS = 250;

/** Starts the half of the service that answers calls; returns the address it is bound to. */
export async function startApi(
  options: RunsServiceOptions,
  parts: Parts,
  scope: Scope,
): Promise<string> {
  const { database, endedRuns } = parts;
  const { logger } = options;
  const watching = startWatching(options, database, scope);
  await followEndedRuns(options, { endedRuns, ...watching }, scope);
  scope.loop({
    name: "purge-idempotency-keys",
    intervalMs: KEYS_INTERVAL_MS,
    logger,
    run: async () => {
      while ((await deleteExpiredKeys(database, KEYS_BATCH)) === KEYS_BATCH);
    },
  });
  const audit = createAuditTrail({
    database,
    schema: "runs",
    bus: options.bus,
    logger,
    metricsRegistry: options.metricsRegistry,
  });
  scope.defer(() => audit.stop());
  const context: ServiceContext = {
    ...parts,
    contents: createContentReader(options.metricsRegistry),
    audit,
    cursors: createCursorCodec(await getCursorKey(database)),
    starter: new RunStarter(parts),
    eventStarter: new EventStarter(parts),
    statistics: new StatisticsTurns(),
    syncWaits: new Shares({
      total: SYNC_WAITS_MAX,
      perTenant: options.companySyncWaitsMax ?? COMPANY_SYNC_WAITS_MAX,
    }),
    watcher: watching.watcher,
    readings: new AnswerTurns(options.reading ?? READING_BYTES, options.reading?.waitMs),
  };
  const server = createServer(options, database);
  scope.defer(() => server.close());
  // Waiting callers are answered while the server can still send.
  scope.defer(() => endedRuns.endWaits());
  addServices(server, context);
  const bound = await server.listen(options.grpcAddress);
  server.setServing(true);
  return bound.address;
}

/** Hears of ended runs from all processes, and tells callers who wait for them or watch them. */
async function followEndedRuns(
  { databaseUrl, logger }: RunsServiceOptions,
  { endedRuns, watcher, poll }: Pick<Parts, "endedRuns"> & ReturnType<typeof startWatching>,
  scope: Scope,
): Promise<void> {
  const subscription = await listen({
    connectionUri: databaseUrl,
    role: DATABASE_ROLE,
    channels: [ENDED_CHANNEL],
    onNotification: (_channel, payload) => {
      const runIds = payload.split(",");
      endedRuns.announce(runIds);
      if (watcher.watches(runIds)) poll();
    },
    onReconnect: () => endedRuns.recheck(),
    onError: (error) => logger.warn({ err: error }, "notifications are interrupted"),
  });
  scope.defer(() => subscription.stop());
}

function createServer(options: RunsServiceOptions, database: Database): RpcServer {
  return createRpcServer({
    logger: options.logger,
    verifier: createTokenVerifier({
      audience: "runs",
      publicKeys: options.tokenPublicKeys,
      revoked: createRevokedTokens(database, "runs"),
    }),
    toAppError: databaseErrorToAppError,
    tls: options.grpcTls,
    protoRoot: PROTO_ROOT,
    reflection: options.grpcReflection,
    tracer: options.tracer,
    ...(options.metricsRegistry === undefined
      ? {}
      : { onRequest: rpcRequestMetrics(options.metricsRegistry) }),
  });
}

/** Adds every RPC of the service. */
function addServices(server: RpcServer, context: ServiceContext): void {
  server.add(RunsServiceService, {
    startRun: startRun(context),
    startRuns: startRuns(context),
    startRunsAndWait: startRunsAndWait(context),
    getRun: getRun(context),
    readRun: readRun(context),
    listRunSteps: listRunSteps(context),
    getRunStep: getRunStep(context),
    getRunStatuses: getRunStatuses(context),
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
  server.add(RunStatsServiceService, { getRunStats: getRunStats(context) });
  server.add(DeploymentsServiceService, {
    putDeployment: putDeployment(context),
    checkDeployment: checkDeployment(context),
  });
  server.add(TriggersServiceService, { startTriggeredRuns: startTriggeredRuns(context) });
  server.add(RunEventsServiceService, {
    readRunPayloads: readRunPayloads(context),
    listEndEvents: listEndEvents(context),
  });
}

function startWatching(
  { logger, companyWatchersMax = COMPANY_WATCHERS_MAX }: RunsServiceOptions,
  database: Database,
  scope: Scope,
): { watcher: RunWatcher; poll: () => void } {
  let poll = (): void => {};
  const shares = new Shares({ total: WATCHERS_MAX, perTenant: companyWatchersMax });
  const watcher = createRunWatcher({ database, shares, onWatch: () => poll() });
  const polling = scope.loop({
    name: "watch-runs",
    intervalMs: WATCH_INTERVAL_MS,
    logger,
    run: () => watcher.poll(),
  });
  poll = polling.wake;
  return { watcher, poll };
}
