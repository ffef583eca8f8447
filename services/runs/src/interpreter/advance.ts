import { setImmediate as nextTurn } from "node:timers/promises";
import type { CompiledStep } from "@workflow/definition";
import { evaluateCondition, retryDelayMs } from "@workflow/definition";
import type { ExecutionError, OpenStep } from "../engine/journal.ts";
import { executeStep } from "./execute-step.ts";
import type { Execution, Outcome } from "./execution.ts";
import type { PastResult } from "./run-journal.ts";
import type { StepError } from "./step-error.ts";
import { toStepError } from "./to-step-error.ts";

/** A run may hold the event loop for so long before others get a turn. */
const TURN_MS = 8;

/**
 * Takes a run as far as it will go: through every step whose turn it is, until the end or until
 * nothing is left but waiting. Results that earlier executions wrote are taken over, so that it can
 * be called again after a wait or by another worker after a crash.
 */
export async function advance(execution: Execution): Promise<Outcome> {
  return runSequence(execution, execution.definition.steps, "");
}

/**
 * Runs steps in order.
 *
 * @param prefix path of the enclosing step with a dot at the end; empty at the top (D26)
 * @returns `done` with the output of the last step that was not skipped
 */
async function runSequence(
  execution: Execution,
  steps: readonly CompiledStep[],
  prefix: string,
): Promise<Outcome> {
  let output: unknown = null;
  let turnEndsAt = performance.now() + TURN_MS;
  for (const step of steps) {
    execution.signal.throwIfAborted();
    if (performance.now() > turnEndsAt) {
      await nextTurn();
      turnEndsAt = performance.now() + TURN_MS;
    }
    const outcome = await runStep(execution, step, prefix + step.id);
    if (outcome.kind === "skipped") continue;
    if (outcome.kind !== "done") return outcome;
    output = outcome.output;
  }
  return { kind: "done", output };
}

async function runStep(
  execution: Execution,
  step: CompiledStep,
  path: string,
): Promise<Outcome | { kind: "skipped" }> {
  const { journal } = execution;
  const past = journal.findPast(path);
  if (past !== undefined) {
    // What ran inside it can be referred to from after it, too (D16).
    for (const inside of journal.pastInside(path)) showPast(execution, inside);
    showPast(execution, past);
    if (past.status === "skipped") return { kind: "skipped" };
    if (past.error !== null && step.onError === "fail") return failed(past.error);
    return { kind: "done", output: past.output };
  }
  return attemptStep(execution, step, journal.begin(path));
}

function showPast({ stepScope }: Execution, { stepId, output, error, status }: PastResult): void {
  stepScope.set(stepId, { output, error, status });
}

/** A step's condition counts once, before its first attempt. */
function isLeftOut(execution: Execution, step: CompiledStep, open: OpenStep): boolean {
  if (step.when === undefined || open.dueAt !== null || open.attempt > 1) return false;
  return !evaluateCondition(step.when, execution.scope);
}

function skip(execution: Execution, step: CompiledStep, open: OpenStep): { kind: "skipped" } {
  execution.stepScope.set(step.id, { output: null, error: null, status: "skipped" });
  execution.journal.record(open, {
    stepId: step.id,
    type: step.type,
    status: "skipped",
    completedAt: new Date(),
    input: null,
    output: null,
    error: null,
  });
  return { kind: "skipped" };
}

async function attemptStep(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
): Promise<Outcome | { kind: "skipped" }> {
  const { journal } = execution;
  // A retry's pause; a delay step looks at its due time itself.
  if (step.type !== "delay" && open.dueAt !== null && open.dueAt.getTime() > Date.now()) {
    return { kind: "waiting", dueAt: open.dueAt, long: false };
  }
  const attemptStartedAt = new Date();
  let input: string | null = null;
  try {
    if (isLeftOut(execution, step, open)) return skip(execution, step, open);
    const outcome = await executeStep(
      execution,
      step,
      open,
      (resolved) => (input = resolved),
      (steps, prefix) => runSequence(execution, steps, prefix),
    );
    if (outcome.kind === "waiting") return outcome;
    if (outcome.kind === "failed") {
      return await recordFailure(execution, step, open, outcome.error, input);
    }
    execution.stepScope.set(step.id, { output: outcome.output, error: null, status: "success" });
    journal.record(open, {
      stepId: step.id,
      type: step.type,
      status: "success",
      completedAt: new Date(),
      input,
      output: outcome.outputText,
      error: null,
    });
    if (step.checkpoint) journal.announceCheckpoint(step.id);
    if (step.checkpoint || outcome.effect || journal.isFull) await journal.checkpoint();
    return { kind: "done", output: outcome.output };
  } catch (thrown) {
    if (execution.signal.aborted) throw thrown;
    const error = toStepError(thrown);
    return (
      retryLater(execution, step, open, error, attemptStartedAt) ??
      (await recordFailure(execution, step, open, error.toRecord(), input))
    );
  }
}

/** Puts off the next attempt, if the step's policy allows one. */
function retryLater(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  error: StepError,
  attemptStartedAt: Date,
): Outcome | null {
  const policy = step.retry;
  if (policy === undefined || !error.retryable || open.attempt >= policy.maxAttempts) return null;
  const backoffMs = retryDelayMs(policy, open.attempt, Math.random);
  const dueAt = new Date(Date.now() + Math.max(backoffMs, error.retryAfterMs ?? 0));
  const attempt = {
    attempt: open.attempt,
    startedAt: attemptStartedAt.toISOString(),
    error: error.toRecord(),
  };
  execution.journal.hold(open, {
    dueAt,
    attempt: open.attempt + 1,
    attemptGroup: open.attemptGroup + (error.answered ? 1 : 0),
    previousAttempts: [...open.previousAttempts, attempt],
  });
  return { kind: "waiting", dueAt, long: false };
}

async function recordFailure(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  error: ExecutionError,
  input: string | null,
): Promise<Outcome> {
  execution.stepScope.set(step.id, { output: null, error, status: "error" });
  execution.journal.record(open, {
    stepId: step.id,
    type: step.type,
    status: "error",
    completedAt: new Date(),
    input,
    output: null,
    error,
  });
  if (step.onError === "fail") {
    // A container fails with the error of the step inside that failed, and keeps its name.
    const details = { stepId: step.id, path: open.path, ...error.details };
    return failed({ ...error, details });
  }
  if (step.type === "action") await execution.journal.checkpoint();
  return { kind: "done", output: null };
}

function failed(error: ExecutionError): Outcome {
  return { kind: "failed", error };
}
