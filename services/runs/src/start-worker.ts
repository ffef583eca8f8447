import type { Scope } from "@workflow/async";
import { createDeadLetters } from "@workflow/events";
import { createExpressionPool } from "@workflow/expressions";
import { createSafeHttpClient } from "@workflow/http-client";
import type { SafeHttpClient } from "@workflow/http-client";
import { createApprovalDesk } from "./effects/approval-desk.ts";
import { createChildRuns } from "./effects/child-runs.ts";
import { NO_AGENTS } from "./effects/no-agents.ts";
import { NO_EMAIL } from "./effects/no-email.ts";
import { NO_PROVIDERS } from "./effects/no-providers.ts";
import { NO_TABLES } from "./effects/no-tables.ts";
import { startDatabaseClock } from "./engine/database-clock.ts";
import { startRunWorker } from "./engine/run-worker.ts";
import { watchFigures } from "./metrics/figures.ts";
import { cancelGivenUp, inRounds } from "./operations/cancel-given-up.ts";
import { cancelWaitedChildren } from "./operations/cancel-children.ts";
import { runRetention } from "./operations/retention.ts";
import { runUpkeep } from "./operations/upkeep.ts";
import type { StepEffects } from "./interpreter/effects/step-effects.ts";
import { createSending } from "./interpreter/effects/sending.ts";
import { WorkerMemory } from "./memory/worker-memory.ts";
import type { RunsServiceOptions } from "./options.ts";
import type { Parts } from "./parts.ts";
import { startScheduler } from "./schedules/scheduler.ts";
import { NO_SECRETS } from "./secrets/no-secrets.ts";
import { consumeTableEvents } from "./triggers/table-events.ts";

/** The most bytes that the inputs and outputs of a run's steps may have (D56). */
const RUN_BYTES_MAX = 64 * 1024 * 1024;
const WORKER_MEMORY_BYTES = 512 * 1024 * 1024;
/** The longest delay that does not suspend the run (D17). */
const SHORT_WAIT_MS = 5_000;

/** Starts the half of the service that executes runs and fires schedules. */
export async function startWorker(
  options: RunsServiceOptions,
  parts: Parts,
  scope: Scope,
): Promise<void> {
  const { database } = parts;
  const clock = await startDatabaseClock(parts.engineDatabase, options.logger, scope);
  const worker = await startRunWorker({
    ...parts,
    clock,
    effects: createEffects(options, parts, scope),
    secrets: options.secrets ?? NO_SECRETS,
    cancelChildrenOf: (runIds) => {
      cancelWaitedChildren(parts, runIds).catch((error: unknown) => {
        options.logger.warn({ err: error }, "could not cancel the children of ended runs");
      });
    },
    journalObserver: parts.engineMetrics,
    stepObserver: parts.engineMetrics,
    runObserver: parts.engineMetrics,
    logger: options.logger,
    concurrency: options.workerConcurrency,
    memory: new WorkerMemory({ bytesMax: options.workerMemoryBytes ?? WORKER_MEMORY_BYTES }),
    runBytesMax: options.runBytesMax ?? RUN_BYTES_MAX,
    shortWaitMs: options.shortWaitMs ?? SHORT_WAIT_MS,
  });
  scope.defer(() => worker.stop());
  await consumeTableEvents(
    {
      ...parts,
      bus: options.bus,
      deadLetters: createDeadLetters({
        database,
        schema: "runs",
        logger: options.logger,
        metricsRegistry: options.metricsRegistry,
      }),
      logger: options.logger,
    },
    scope,
  );
  startScheduler({ ...parts, logger: options.logger }, scope);
  startUpkeep(options, parts, scope);
}

/** Everything that steps reach beyond their run. */
function createEffects(options: RunsServiceOptions, parts: Parts, scope: Scope): StepEffects {
  const openHttp = (allowPrivate: boolean): SafeHttpClient => {
    const client = createSafeHttpClient({
      allowPrivate,
      dnsServers: options.outboundDnsServers,
      nat64Prefixes: options.outboundNat64Prefixes,
      tracer: options.tracer,
    });
    scope.defer(() => client.close());
    return client;
  };
  const expressions = createExpressionPool({
    logger: options.logger,
    metricsRegistry: options.metricsRegistry,
    name: "runs",
  });
  scope.defer(() => expressions.close());
  return {
    http: openHttp(options.outboundAllowPrivate),
    operatorHttp: openHttp(true),
    expressions,
    agents: options.agents ?? NO_AGENTS,
    email: options.email ?? NO_EMAIL,
    providers: options.providers ?? NO_PROVIDERS,
    sending: createSending(),
    tables: options.tables ?? NO_TABLES,
    approvals: createApprovalDesk(parts.database),
    children: createChildRuns({
      ...parts,
      waitMs: options.childPatienceMs,
      onGivenUp: inRounds(() =>
        cancelGivenUp(parts).catch((error: unknown) => {
          options.logger.warn({ err: error }, "could not cancel runs that were given up");
        }),
      ),
    }),
  };
}

/** What goes on beside runs; all of it stops together. */
function startUpkeep(options: RunsServiceOptions, parts: Parts, scope: Scope): void {
  const { logger, metricsRegistry, reconcileIntervalMs, workerPool } = options;
  const { runRetentionDays: retentionDays = 0, runRetentionIntervalMs: retentionIntervalMs } =
    options;
  const { database } = parts;
  scope.background((signal) =>
    Promise.all([
      runUpkeep({ ...parts, logger, metricsRegistry, reconcileIntervalMs }, signal),
      metricsRegistry &&
        watchFigures({ workerPool, database, registry: metricsRegistry, logger }, signal),
      runRetention({ ...parts, logger, retentionDays, retentionIntervalMs }, signal),
    ]),
  );
}
