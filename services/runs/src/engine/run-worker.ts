import type { Database } from "@workflow/db";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { DeploymentCache } from "../deployments/deployment-cache.ts";
import type { Clock } from "../domain/clock.ts";
import type { StepEffects } from "../interpreter/effects/step-effects.ts";
import type { EndHook } from "../journal/end-hooks.ts";
import type { JournalEntry } from "../journal/journal-entry.ts";
import type { JournalObserver } from "../journal/journal-observer.ts";
import { createJournalWriter } from "../journal/journal-writer.ts";
import type { StepObserver } from "../interpreter/step-observer.ts";
import type { SecretsClient } from "../secrets/resolve-secrets.ts";
import { OutputEstimates } from "../memory/output-estimates.ts";
import type { WorkerMemory } from "../memory/worker-memory.ts";
import type { AcceptedRuns } from "../starting/accepted-runs.ts";
import type { Advance, Finished, Lease } from "../task-runtime/port.ts";
import type { RuntimeWorker, TaskRuntime } from "../task-runtime/runtime.ts";
import { createEndAnnouncer } from "./end-announcer.ts";
import type { EndedRuns } from "./ended-runs.ts";
import { beginRuns, RELEASED } from "./begin-runs.ts";
import type { ReadyRun } from "./begin-runs.ts";
import { executeRun } from "./execute-run.ts";
import type { RunExecution } from "./execute-run.ts";
import { toLoadedRun } from "./load-runs.ts";
import { ParkedRuns } from "./parked-runs.ts";
import type { RunObserver } from "./run-observer.ts";
import type { WakeUps } from "./wake-ups.ts";

/** The dependencies of a worker. */
export interface RunWorkerOptions {
  database: Database;
  clock: Clock;
  /** The database that the journal writes to. */
  engineDatabase: Database;
  runtime: TaskRuntime;
  acceptedRuns: AcceptedRuns;
  deployments: DeploymentCache;
  effects: StepEffects;
  tracer: Tracer | undefined;
  /** Notified of steps and runs that end. */
  stepObserver?: StepObserver | undefined;
  runObserver?: RunObserver | undefined;
  secrets: SecretsClient;
  endedRuns: EndedRuns;
  endHooks: readonly EndHook[];
  wakeUps: WakeUps;
  /** Cancels the children of runs that have just ended badly while they waited for them. */
  cancelChildrenOf: (runIds: readonly string[]) => void;
  /** Called after each commit that puts events into the outbox. */
  onEvents: () => void;
  /** Notified of what the journal writes. */
  journalObserver?: JournalObserver | undefined;
  logger: Logger;
  concurrency: number;
  /** The memory that all runs share. */
  memory: WorkerMemory;
  /** The most bytes that the inputs and outputs of a run's steps may have together (D56). */
  runBytesMax: number;
  /** A wait up to this long need not be parked, in milliseconds. */
  shortWaitMs: number;
}

/** Executes runs in this process until stopped. */
export async function startRunWorker(options: RunWorkerOptions): Promise<RuntimeWorker> {
  const { database, deployments, runtime, memory, logger } = options;
  const ends = createEndAnnouncer(options);
  const parked = new ParkedRuns(memory);
  const estimates = new OutputEstimates();

  const execute = (ready: ReadyRun, finished: Finished): void => {
    const { lease, run, deployment, memory: runMemory } = ready;
    const { write } = journal;
    const own = { lease, deployment, write, parked, estimates, memory: runMemory };
    const { stepObserver } = options;
    const execution = { ...options, stepObserver, ...own, ...run };
    void advanceOf(execution).then((advance) => finished(lease, advance));
  };

  /**
   * A run that this process has stored needs no loading, and the caller who waits for its end waits here.
   */
  const executeAccepted = (lease: Lease, finished: Finished): boolean => {
    const accepted = options.acceptedRuns.take(lease.runId);
    const deployment = accepted && deployments.peek(accepted.deploymentId);
    if (accepted === undefined || deployment === undefined) return false;
    const runMemory = memory.open(accepted.companyId, lease.signal);
    const ready = { lease, run: toLoadedRun(accepted), deployment, memory: runMemory };
    ends.expect(ready, "here");
    execute(ready, finished);
    return true;
  };

  const executeLoaded = (ready: ReadyRun, finished: Finished): void => {
    ends.expect(ready, "anywhere");
    execute(ready, finished);
  };

  const executeBatch = (leases: readonly Lease[], finished: Finished): void => {
    const rest = leases.filter((lease) => !executeAccepted(lease, finished));
    if (rest.length === 0) return;
    const loading = { database, worker, deployments, memory, parked, logger };
    void beginRuns(loading, rest, (ready) => executeLoaded(ready, finished), finished);
  };

  const worker = await runtime.startWorker({
    concurrency: options.concurrency,
    execute: executeBatch,
  });
  const journal = createJournalWriter({
    database: options.engineDatabase,
    worker,
    logger,
    endHooks: options.endHooks,
    onCommitted(entries) {
      tellOfEntries(options, entries);
      ends.announce(entries);
    },
    journalObserver: options.journalObserver,
  });
  return worker;
}

/** Executes a run. Where that fails without an outcome, the task is released. Never rejects. */
function advanceOf(execution: RunExecution): Promise<Advance> {
  return executeRun(execution).catch((error: unknown) => {
    const { lease, logger } = execution;
    logger.error({ err: error, runId: lease.runId }, "an execution ended without an outcome");
    return RELEASED;
  });
}

/** Tells the rest of the process what committed entries mean for it. */
function tellOfEntries(
  { onEvents, runObserver, wakeUps, cancelChildrenOf }: RunWorkerOptions,
  entries: readonly JournalEntry[],
): void {
  if (entries.some((entry) => entry.events.length > 0)) onEvents();
  const endings = entries.flatMap((entry) => entry.ended ?? []);
  for (const entry of entries) if (entry.ended !== null) runObserver?.runEnded(entry);
  if (endings.some((run) => run.waitingParentRunId !== null || run.limited)) {
    wakeUps.deliverSoon();
  }
  const parents = entries.filter(
    ({ waitsForRuns, ended }) => waitsForRuns && ended !== null && ended.status !== "completed",
  );
  if (parents.length > 0) cancelChildrenOf(parents.map(({ lease }) => lease.runId));
}
