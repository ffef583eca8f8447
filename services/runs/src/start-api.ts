import { fileURLToPath } from "node:url";
import { createCursorCodec, databaseErrorToAppError, listen } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createAuditTrail } from "@workflow/events";
import { ApprovalsServiceService } from "@workflow/proto/runs/v1/approvals";
import { DeploymentsServiceService } from "@workflow/proto/runs/v1/deployments";
import { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import { SchedulesServiceService } from "@workflow/proto/runs/v1/schedules";
import { RunStatsServiceService } from "@workflow/proto/runs/v1/stats";
import { createRpcServer, createTokenVerifier } from "@workflow/rpc";
import { loop, rpcRequestMetrics } from "@workflow/service";
import type { Scope } from "@workflow/service";
import type { Logger } from "pino";
import type { ServiceContext } from "./context.ts";
import { ENDED_CHANNEL } from "./engine/ended-runs.ts";
import { createRunStarter } from "./engine/run-starter.ts";
import { createRunWatcher } from "./operations/run-watcher.ts";
import type { RunWatcher } from "./operations/run-watcher.ts";
import type { RunsServiceOptions } from "./options.ts";
import { DATABASE_ROLE } from "./parts.ts";
import type { Parts } from "./parts.ts";
import { bulkRuns } from "./rpc/bulk-runs.ts";
import { cancelRun } from "./rpc/cancel-run.ts";
import { decideApproval } from "./rpc/decide-approval.ts";
import { getRunStats } from "./rpc/get-run-stats.ts";
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
import { getCursorKey } from "./store/cursor-key.ts";
import { deleteExpiredKeys } from "./store/start-runs.ts";

const PROTO_ROOT = fileURLToPath(new URL("../../../proto", import.meta.url));
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
  const audit = createAuditTrail({ database, schema: "runs", bus: options.bus, logger });
  scope.defer(() => audit.stop());
  const context: ServiceContext = {
    ...parts,
    audit,
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
  server.add(RunStatsServiceService, { getRunStats: getRunStats(context) });
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
