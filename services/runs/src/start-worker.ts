import { createSafeHttpClient } from "@workflow/http-client";
import type { Scope } from "@workflow/service";
import { NO_EMAIL } from "./email/no-email.ts";
import { createApprovalDesk } from "./engine/approval-desk.ts";
import { createChildRuns } from "./engine/child-runs.ts";
import { startRunWorker } from "./engine/run-worker.ts";
import { runUpkeep } from "./engine/upkeep.ts";
import { createExpressionPool } from "./expressions/expression-pool.ts";
import { cancelWaitedChildren } from "./operations/cancel-children.ts";
import { cancelRuns } from "./operations/cancel-runs.ts";
import type { RunsServiceOptions } from "./options.ts";
import type { Parts } from "./parts.ts";
import { startScheduler } from "./schedules/scheduler.ts";
import { NO_SECRETS } from "./secrets/no-secrets.ts";
import { NO_TABLES } from "./tables/no-tables.ts";
import { consumeTableEvents } from "./triggers/table-events.ts";

/** Starts the half of the service that executes runs and fires schedules. */
export async function startWorker(
  options: RunsServiceOptions,
  parts: Parts,
  scope: Scope,
): Promise<void> {
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
      tables: options.tables ?? NO_TABLES,
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
  const tableEvents = await consumeTableEvents({
    ...parts,
    bus: options.bus,
    logger: options.logger,
  });
  scope.defer(() => tableEvents.close());
  const scheduler = startScheduler({ ...parts, logger: options.logger });
  scope.defer(() => scheduler.stop());
  const stopping = new AbortController();
  const upkeep = runUpkeep({ ...parts, logger: options.logger }, stopping.signal);
  scope.defer(() => {
    stopping.abort();
    return upkeep;
  });
}
