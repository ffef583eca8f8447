import { createFairness } from "@workflow/async";
import { databaseErrorToAppError } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { JsonSchemaValidator } from "@workflow/definition";
import type { Logger } from "pino";
import { acquireSlot } from "../concurrency/acquire-slot.ts";
import type { CompiledContent, Deployment } from "../deployments/deployment-cache.ts";
import type { Clock } from "../domain/clock.ts";
import type { FoundError } from "../domain/execution-error.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import { storableJson } from "../domain/storable-json.ts";
import { advance } from "../interpreter/advance.ts";
import type { StepEffects } from "../interpreter/effects/step-effects.ts";
import { Fibers } from "../interpreter/fibers.ts";
import type { Parking } from "../interpreter/fibers.ts";
import type { StepObserver } from "../interpreter/step-observer.ts";
import { SpanBudget } from "../interpreter/span-budget.ts";
import { StepScopes } from "../interpreter/step-scopes.ts";
import type { JournalEntry } from "../journal/journal-entry.ts";
import { LeaseLostError } from "../journal/lease-lost-error.ts";
import { ActiveClock } from "../journal/active-clock.ts";
import { RunJournal } from "../journal/run-journal.ts";
import type { Ending } from "../journal/ending.ts";
import { createSecretBonds } from "../secrets/bound-secrets.ts";
import type { RunSecret, SecretsClient } from "../secrets/resolve-secrets.ts";
import { createScrubber } from "@workflow/scrubber";
import type { Tracer } from "@workflow/tracing";
import { isAwaitedByRunOf } from "../store/child-runs.ts";
import { StepOutputs } from "../journal/step-outputs.ts";
import type { StepOutput } from "../journal/step-outputs.ts";
import type { OutputEstimates } from "../memory/output-estimates.ts";
import type { RunMemory } from "../memory/run-memory.ts";
import { listOutputs } from "../store/load-history.ts";
import { isTerminal } from "../domain/run-status.ts";
import type { Advance, Lease } from "../task-runtime/port.ts";
import { findEventRunFault } from "./check-event-run.ts";
import { activeMsOf } from "./load-runs.ts";
import type { LoadedRun } from "./load-runs.ts";
import type { ParkedRuns } from "./parked-runs.ts";
import { factsOf, scopeOf } from "./run-scope.ts";
import { beginRunSpan, endRunSpan, whyGivenUp } from "./run-span.ts";
import { StopSignal } from "./stop-signal.ts";

/** Leases that may run out without progress before a run is given up (D30). */
const TAKEOVERS_MAX = 5;

/** Whether a run is given up since its workers died again and again. */
export function isGivenUp({ takeovers }: Lease): boolean {
  return takeovers > TAKEOVERS_MAX;
}

/** The largest output of a run (D4). */
const OUTPUT_CHARS_MAX = 10 * 1024 * 1024;

/** One run under one lease. */
export interface RunExecution extends LoadedRun {
  lease: Lease;
  deployment: Deployment;
  database: Database;
  clock: Clock;
  effects: StepEffects;
  tracer: Tracer | undefined;
  /** Notified of each step that ends. */
  stepObserver: StepObserver | undefined;
  secrets: SecretsClient;
  write: (entry: JournalEntry) => Promise<boolean>;
  logger: Logger;
  memory: RunMemory;
  estimates: OutputEstimates;
  parked: ParkedRuns;
  /** The most bytes that the inputs and outputs of a run's steps may have together (D56). */
  runBytesMax: number;
  /** A wait up to this long need not be parked, in milliseconds. */
  shortWaitMs: number;
}

/** The parts of one execution. */
interface ExecutionParts {
  journal: RunJournal;
  outputs: StepOutputs;
  stop: StopSignal;
}

/**
 * Takes one run as far as it goes and writes how that ended. It never rejects: an error becomes the run's
 * failure. Where even that cannot be written, the task is left for another lease.
 *
 * @returns how far the run came, for the task runtime
 */
export async function executeRun(execution: RunExecution): Promise<Advance> {
  const { clock, lease, history, logger } = execution;
  const { database, memory } = execution;
  const span = beginRunSpan(execution.tracer, execution, lease);
  const traceparent = span?.traceparent ?? null;
  const facts = { ...factsOf(execution, lease, execution.deployment, clock), traceparent };
  const told = { runId: lease.runId, requestId: facts.requestId, trace_id: span?.traceId };
  const activeClock = new ActiveClock(activeMsOf(execution.row, lease));
  const stop = new StopSignal(lease, activeClock, timeoutMsOf(execution));
  const outputs = new StepOutputs((paths) => listOutputs(database, lease.runId, paths), memory);
  const journal = new RunJournal({
    facts,
    lease,
    history,
    outputs,
    bytesMax: execution.runBytesMax,
    clock,
    activeClock,
    write: execution.write,
    onRefused: () => stop.abort(),
  });
  let written: Ending | null = null;
  let isHandedBack = false;
  try {
    const ending = await run(execution, facts, { journal, outputs, stop });
    if (lease.signal.aborted) return journal.advance;
    await journal.end(ending);
    written = ending;
    if (isTerminal(ending.status)) return journal.advance;
    outputs.dropAll();
    execution.parked.keep(lease, facts.companyId, journal.history);
  } catch (thrown) {
    const error = journal.failure ?? thrown;
    if (error instanceof LeaseLostError || lease.signal.aborted) return journal.advance;
    if (databaseErrorToAppError(error).reason === "UNAVAILABLE") {
      // The database or another service is away. The task is given back and tried again soon.
      logger.warn(
        { ...told, err: error },
        "a run has to wait: the database or another service is away",
      );
      isHandedBack = true;
      return journal.advance;
    }
    logger.error({ ...told, err: error }, "a run failed with an internal error");
    const failed = await recordFault(journal, logger, told);
    written = failed.written;
    isHandedBack = failed.isHandedBack;
  } finally {
    journal.close();
    stop.release();
    memory.close();
    // An execution that has written nothing sends no span: the next execution is then the first one.
    const isOver = written !== null && isTerminal(written.status);
    if (span !== undefined && (journal.hasBegun || isOver)) {
      endRunSpan(span, written ?? (isHandedBack ? "handed_back" : await whyGivenUp(execution)));
    }
  }
  return journal.advance;
}

/** Ends a run for a fault of ours. Where that cannot be written, the task is handed back. */
async function recordFault(
  journal: RunJournal,
  logger: Logger,
  told: object,
): Promise<{ written: Ending | null; isHandedBack: boolean }> {
  journal.discard();
  const failure: Ending = {
    status: "failed",
    error: systemFailure("SYSTEM_FAILURE", "An internal error occurred."),
  };
  try {
    await journal.end(failure);
    return { written: failure, isHandedBack: false };
  } catch (error) {
    if (error instanceof LeaseLostError) return { written: null, isHandedBack: false };
    logger.error({ ...told, err: error }, "could not write a run's failure");
    return { written: null, isHandedBack: true };
  }
}

async function run(
  execution: RunExecution,
  facts: RunFacts,
  parts: ExecutionParts,
): Promise<Ending> {
  const { outputs, stop } = parts;
  if (isGivenUp(execution.lease)) {
    const message = `The run was taken over ${TAKEOVERS_MAX} times in a row without progress.`;
    return { status: "failed", error: systemFailure("CRASHED", message, "LEASE_LOST") };
  }
  const { compiled } = execution.deployment;
  if (compiled === null) throw new Error("the deployment does not compile");
  const { timeoutMs } = compiled.definition.settings;
  if (stop.timedOut) return timeoutAfter(timeoutMs);
  const fault = facts.started ? null : findEventRunFault(facts, compiled, execution.row.input);
  if (fault !== null) return { status: "failed", error: fault };
  const refusal = await acquireSlotOf(execution, facts, compiled);
  if (refusal !== null) return refusal;
  const responded = execution.history.results.findSuccessOf(compiled.respondStepIds);
  if (responded !== undefined) {
    return completion(compiled.outputSchema, await valueOf(outputs, responded.output));
  }
  const outcome = await advanceUntil(execution, facts, compiled, parts).catch((error: unknown) => {
    if (stop.timedOut && !execution.lease.signal.aborted) return null;
    throw error;
  });
  if (outcome === null || stop.timedOut) return timeoutAfter(timeoutMs);
  switch (outcome.kind) {
    case "waiting":
      return waiting(outcome.parking, execution.clock.now() + timeoutMs - parts.journal.activeMs);
    case "failed":
      return { status: "failed", error: outcome.error };
    case "done":
      return completion(compiled.outputSchema, await valueOf(outputs, outcome.output));
    case "responded":
      return completion(compiled.outputSchema, outcome.output);
    default:
      return outcome satisfies never;
  }
}

/**
 * Acquires the slot of a run whose workflow has a concurrency limit (D15); null when the run may go on.
 */
async function acquireSlotOf(
  { database, row }: RunExecution,
  facts: RunFacts,
  { definition }: CompiledContent,
): Promise<Ending | null> {
  const { concurrency } = definition.settings;
  if (concurrency === undefined || facts.started) return null;
  const { limit, onLimit } = concurrency;
  // A run nested in another run of its workflow shares that run's slot. With a slot of its own
  // it could wait for ever: the outer run waits for it and keeps the only slot.
  const shares =
    facts.waitingParentRunId !== null && (await isAwaitedByRunOf(database, row.id, row.workflowId));
  if (shares) return null;
  const entered = await acquireSlot(database, {
    runId: row.id,
    workflowId: row.workflowId,
    limit,
    onLimit,
  });
  if (entered === "entered") return null;
  if (entered === "queued") return { status: "pending", wakeAt: null };
  const message = `The workflow had as many runs as its concurrency limit of ${limit} allows.`;
  return {
    status: "cancelled",
    error: { code: "CONCURRENCY_LIMIT", message } satisfies FoundError,
  };
}

async function advanceUntil(
  execution: RunExecution,
  facts: RunFacts,
  { definition }: CompiledContent,
  { journal, outputs, stop }: ExecutionParts,
): ReturnType<typeof advance> {
  const { lease, effects } = execution;
  const { secretKeys } = definition;
  const secrets: ReadonlyMap<string, RunSecret> =
    secretKeys.length === 0
      ? new Map()
      : await execution.secrets.resolve(facts, facts.workflowId, secretKeys, stop.signal);
  const bonds = createSecretBonds(secrets);
  const fibers = new Fibers({
    clock: execution.clock,
    shortWaitMs: execution.shortWaitMs,
    isSlotWanted: lease.isSlotWanted,
    onRest: (isResting) => stop.setResting(isResting),
  });
  const stepScopes = new StepScopes();
  lease.onWoken = () => fibers.wake();
  lease.onSlotWanted = () => fibers.giveUpSlot();
  return advance({
    facts,
    definition,
    scope: scopeOf(execution, facts, stepScopes, bonds.secrets),
    stepScopes,
    journal,
    outputs,
    memory: execution.memory,
    estimates: execution.estimates,
    fibers,
    effects,
    tracer: execution.tracer,
    spans: new SpanBudget(execution.history.nextSeq - 1),
    stepObserver: execution.stepObserver,
    fairness: createFairness(),
    clock: execution.clock,
    scrubber: createScrubber(bonds.values),
    bonds,
    stop: stop.signal,
    signal: stop.signal,
    attemptTag: "",
  });
}

async function valueOf(outputs: StepOutputs, output: StepOutput): Promise<unknown> {
  await outputs.pin([output]);
  return output.value;
}

/** The status of a run that can only wait, and when it is due again. */
function waiting({ kinds, dueAt }: Parking, timesOutAtMs: number): Ending {
  // A child run works, so waiting for its end counts. Waiting for people and the calendar does not (D28).
  const countsTowardTimeout = kinds.has("child");
  const timesOutAt = new Date(timesOutAtMs);
  const wakeAt = countsTowardTimeout && (dueAt === null || timesOutAt < dueAt) ? timesOutAt : dueAt;
  if (kinds.has("approval")) return { status: "waiting_approval", wakeAt, countsTowardTimeout };
  const suspended = [...kinds].every((kind) => kind === "suspension");
  return { status: suspended ? "suspended" : "running", wakeAt, countsTowardTimeout };
}

function completion(schema: JsonSchemaValidator | null, output: unknown): Ending {
  const violations = schema?.validate(output) ?? [];
  if (violations.length > 0) {
    return {
      status: "failed",
      error: {
        code: "OUTPUT_INVALID",
        message: "The output does not fit the workflow's outputSchema.",
        details: { violations },
      } satisfies FoundError,
    };
  }
  const text = storableJson(output);
  if (text.length > OUTPUT_CHARS_MAX) {
    return {
      status: "failed",
      error: {
        code: "OUTPUT_TOO_LARGE",
        message: "The run's output is larger than 10 MiB.",
      } satisfies FoundError,
    };
  }
  return { status: "completed", output: text };
}

/** A deployment that does not compile has no timeout, and is given no time. */
function timeoutMsOf({ deployment }: RunExecution): number {
  return deployment.compiled?.definition.settings.timeoutMs ?? 0;
}

function timeoutAfter(timeoutMs: number): Ending {
  return {
    status: "timeout",
    error: {
      code: "RUN_TIMEOUT",
      message: `The run was executed for longer than ${timeoutMs} ms.`,
    } satisfies FoundError,
  };
}

function systemFailure(
  triggerStatus: string,
  message: string,
  triggerErrorCode?: string,
): FoundError {
  return {
    code: "RUNTIME_ERROR",
    message,
    details: { triggerStatus, ...(triggerErrorCode === undefined ? {} : { triggerErrorCode }) },
  };
}
