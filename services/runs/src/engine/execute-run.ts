import { databaseErrorToAppError } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { JsonSchemaValidator } from "@workflow/definition";
import type { Logger } from "pino";
import { enterSlot } from "../concurrency/enter-slot.ts";
import type { ExecutionError } from "../domain/execution-error.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import { storableJson } from "../domain/storable-json.ts";
import { advance, createFairness } from "../interpreter/advance.ts";
import type { StepEffects } from "../interpreter/effects.ts";
import { RunJournal } from "../interpreter/run-journal.ts";
import type { Ending } from "../interpreter/run-journal.ts";
import { StepScopes } from "../interpreter/step-scopes.ts";
import { Strands } from "../interpreter/strands.ts";
import type { Parking } from "../interpreter/strands.ts";
import { LeaseLostError } from "../interpreter/unwinding.ts";
import type { SecretsClient } from "../secrets/resolve-secrets.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { isAwaitedByRunOf } from "../store/child-runs.ts";
import type { Lease } from "../task-runtime/port.ts";
import { findEventRunFault } from "./check-event-run.ts";
import type { CompiledContent, Deployment } from "./deployment-cache.ts";
import type { JournalEntry } from "./journal.ts";
import type { LoadedRun } from "./load-runs.ts";
import { factsOf, scopeOf } from "./run-scope.ts";
import { StopSignal } from "./stop-signal.ts";

/** Leases that may run out without progress before a run is given up (D30). */
const TAKEOVERS_MAX = 5;
/** D4. */
const OUTPUT_CHARS_MAX = 10 * 1024 * 1024;

/** One run under one lease. */
export interface RunExecution extends LoadedRun {
  lease: Lease;
  deployment: Deployment;
  database: Database;
  effects: StepEffects;
  secrets: SecretsClient;
  write: (entry: JournalEntry) => Promise<boolean>;
  logger: Logger;
}

/**
 * Takes one run as far as it goes and writes how that ended. Never rejects: whatever goes wrong is
 * the run's failure, or, when even that cannot be written, another lease's task.
 */
export async function executeRun(execution: RunExecution): Promise<void> {
  const { lease, history, logger } = execution;
  const facts = factsOf(execution, execution.deployment);
  const stop = new StopSignal(lease, timeoutMsOf(execution) - history.activeMs);
  const journal = new RunJournal(facts, lease, history, execution.write, () => stop.abort());
  try {
    const ending = await run(execution, facts, journal, stop);
    if (!lease.signal.aborted) await journal.end(ending);
  } catch (thrown) {
    const error = journal.failure ?? thrown;
    if (error instanceof LeaseLostError || lease.signal.aborted) return;
    if (databaseErrorToAppError(error).reason === "UNAVAILABLE") {
      // The database or another service is away: the task is given back and tried again before long.
      logger.warn({ err: error, runId: lease.runId }, "a run has to wait for what it needs");
      return;
    }
    logger.error({ err: error, runId: lease.runId }, "a run failed for a reason of ours");
    journal.discard();
    await journal
      .end({
        status: "failed",
        error: systemFailure("SYSTEM_FAILURE", "An internal error occurred."),
      })
      .catch((again: unknown) => {
        if (again instanceof LeaseLostError) return;
        logger.error({ err: again, runId: lease.runId }, "could not write a run's failure");
      });
  } finally {
    journal.close();
    stop.release();
  }
}

async function run(
  execution: RunExecution,
  facts: RunFacts,
  journal: RunJournal,
  stop: StopSignal,
): Promise<Ending> {
  if (execution.lease.takeovers > TAKEOVERS_MAX) {
    const message = `The run's workers died ${TAKEOVERS_MAX} times in a row without progress.`;
    return { status: "failed", error: systemFailure("CRASHED", message, "LEASE_LOST") };
  }
  const { compiled } = execution.deployment;
  if (compiled === null) throw new Error("the deployment does not compile");
  const { timeoutMs } = compiled.definition.settings;
  if (stop.timedOut) return timeoutAfter(timeoutMs);
  const fault = facts.started ? null : findEventRunFault(facts, compiled, execution.row.input);
  if (fault !== null) return { status: "failed", error: fault };
  const place = await takePlace(execution, facts, compiled);
  if (place !== null) return place;
  const responded = execution.history.results.findSuccessOf(compiled.respondStepIds);
  if (responded !== undefined) return completion(compiled.outputSchema, responded.output);
  const outcome = await advanceUntil(execution, facts, journal, compiled, stop).catch(
    (error: unknown) => {
      if (stop.timedOut && !execution.lease.signal.aborted) return null;
      throw error;
    },
  );
  if (outcome === null || stop.timedOut) return timeoutAfter(timeoutMs);
  switch (outcome.kind) {
    case "waiting":
      return waiting(outcome.parking, timeoutMs - journal.activeMs);
    case "failed":
      return { status: "failed", error: outcome.error };
    case "done":
    case "responded":
      return completion(compiled.outputSchema, outcome.output);
    default:
      return outcome satisfies never;
  }
}

/** Before a run of a workflow with a concurrency limit begins (D15); null when it may go on. */
async function takePlace(
  { database, row }: RunExecution,
  facts: RunFacts,
  { definition }: CompiledContent,
): Promise<Ending | null> {
  const { concurrency } = definition.settings;
  if (concurrency === undefined || facts.started) return null;
  const { limit, onLimit } = concurrency;
  // A run that is a part of another one of its workflow shares that one's slot: it would wait for ever
  // for the slot of a run that waits for it.
  const shares =
    facts.waitingParentRunId !== null &&
    (await isAwaitedByRunOf(database, row.id, row.workflow_id));
  if (shares) return null;
  const entered = await enterSlot(database, {
    runId: row.id,
    workflowId: row.workflow_id,
    limit,
    onLimit,
  });
  if (entered === "entered") return null;
  if (entered === "queued") return { status: "pending", wakeAt: null };
  const message = `The workflow had as many runs as its concurrency limit of ${limit} allows.`;
  return { status: "cancelled", error: { code: "CONCURRENCY_LIMIT", message } };
}

async function advanceUntil(
  execution: RunExecution,
  facts: RunFacts,
  journal: RunJournal,
  { definition }: CompiledContent,
  stop: StopSignal,
): ReturnType<typeof advance> {
  const { lease, effects } = execution;
  const { secretKeys } = definition;
  const secrets: ReadonlyMap<string, string> =
    secretKeys.length === 0
      ? new Map()
      : await execution.secrets.resolve(facts.companyId, facts.workflowId, secretKeys, stop.signal);
  const strands = new Strands();
  const stepScopes = new StepScopes();
  lease.onWoken = () => strands.wake();
  return advance({
    facts,
    definition,
    scope: scopeOf(execution, facts, stepScopes, secrets),
    stepScopes,
    journal,
    strands,
    effects,
    fairness: createFairness(),
    scrubber: createScrubber(secrets.values()),
    stop: stop.signal,
    signal: stop.signal,
    attemptTag: "",
  });
}

/** What a run that can only wait shows, and when it is looked at again. */
function waiting({ kinds, dueAt }: Parking, timeLeftMs: number): Ending {
  // The end of a child is work that somebody does; people and the calendar take their time (D28).
  const counts = kinds.has("child");
  const timesOutAt = new Date(Date.now() + timeLeftMs);
  const wakeAt = counts && (dueAt === null || timesOutAt < dueAt) ? timesOutAt : dueAt;
  if (kinds.has("approval")) return { status: "waiting_approval", wakeAt, counts };
  const suspended = [...kinds].every((kind) => kind === "suspension");
  return { status: suspended ? "suspended" : "running", wakeAt, counts };
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
      },
    };
  }
  const text = storableJson(output);
  if (text.length > OUTPUT_CHARS_MAX) {
    return {
      status: "failed",
      error: { code: "OUTPUT_TOO_LARGE", message: "The run's output is larger than 10 MiB." },
    };
  }
  return { status: "completed", output: text };
}

/** A deployment that does not compile has no timeout, nor any time. */
function timeoutMsOf({ deployment }: RunExecution): number {
  return deployment.compiled?.definition.settings.timeoutMs ?? 0;
}

function timeoutAfter(timeoutMs: number): Ending {
  return {
    status: "timeout",
    error: {
      code: "RUN_TIMEOUT",
      message: `The run was executed for longer than ${timeoutMs} ms.`,
    },
  };
}

function systemFailure(
  triggerStatus: string,
  message: string,
  triggerErrorCode?: string,
): ExecutionError {
  return {
    code: "RUNTIME_ERROR",
    message,
    details: { triggerStatus, ...(triggerErrorCode === undefined ? {} : { triggerErrorCode }) },
  };
}
