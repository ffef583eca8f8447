import type { CompiledStep } from "@workflow/definition";
import { evaluateCondition, retryDelayMs } from "@workflow/definition";
import type { ExecutionError } from "../domain/execution-error.ts";
import type { OpenStep } from "../engine/journal.ts";
import { storableJson } from "../domain/storable-json.ts";
import { executeStep } from "./execute-step.ts";
import type { Execution, Outcome, RunNested, StepOutcome } from "./execution.ts";
import { replayStep } from "./replay-step.ts";
import { StepError } from "./step-error.ts";
import { isContainer, timeLimitMs, waitsByItself } from "./step-traits.ts";
import { toStepError } from "./to-step-error.ts";
import { DeadlineExceeded, Parked } from "./unwinding.ts";

/** How a step ended, or `skipped`. */
type StepEnd = Outcome | { kind: "skipped" };

/**
 * Runs one step to its end, retries included, and records it; or takes over what an earlier execution
 * has recorded of it.
 */
export async function runStep(
  execution: Execution,
  step: CompiledStep,
  path: string,
  runNested: RunNested,
): Promise<StepEnd> {
  const { journal, strands, signal, stop } = execution;
  const past = journal.findPast(path);
  if (past !== undefined) return replayStep(execution, step, past);
  const begunBefore = journal.isBegun(path);
  const open = journal.begin(path, isContainer(step));
  try {
    for (let first = !begunBefore; ; first = false) {
      if (isPausedForRetry(step, open))
        await strands.wait({ kind: "retry", dueAt: open.dueAt }, signal);
      const end = await attemptStep(execution, step, open, runNested, first);
      if (end !== "again") return end;
    }
  } catch (thrown) {
    if (thrown instanceof Parked || stop.aborted || !signal.aborted) throw thrown;
    recordGivenUp(execution, step, open);
    throw signal.reason;
  }
}

/** The due time of a step that waits by itself is its own affair. */
function isPausedForRetry(step: CompiledStep, { dueAt }: OpenStep): boolean {
  return !waitsByItself(step) && dueAt !== null && dueAt.getTime() > Date.now();
}

async function attemptStep(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  runNested: RunNested,
  first: boolean,
): Promise<StepEnd | "again"> {
  const startedAt = new Date();
  const shown: ShownInput = { text: null };
  try {
    execution.journal.assertRoom();
    // A step's condition counts once, before its first attempt.
    if (first && isLeftOut(execution, step)) return recordSkip(execution, step, open);
    const outcome = await executeAttempt(execution, step, open, runNested, shown);
    if (outcome.kind === "failed") {
      // What is inside has failed for good; only the container's own policy begins it anew.
      const error = new StepError(outcome.error.code, outcome.error.message);
      if (mayRetry(step, open, error)) {
        return putOff(execution, step, open, { error, record: outcome.error, startedAt });
      }
      return await recordFailure(execution, step, open, outcome.error, shown, null);
    }
    return await recordSuccess(execution, step, open, outcome, shown);
  } catch (thrown) {
    if (thrown instanceof Parked || execution.signal.aborted) throw thrown;
    const error = toStepError(thrown);
    const record = cleanRecord(execution, error);
    if (mayRetry(step, open, error)) {
      return putOff(execution, step, open, { error, record, startedAt });
    }
    return recordFailure(execution, step, open, record, shown, error.output);
  }
}

interface ShownInput {
  text: string | null;
}

/** Executes one attempt within the step's own time (D16). */
async function executeAttempt(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  runNested: RunNested,
  shown: ShownInput,
): Promise<StepOutcome> {
  const { attempt, path } = open;
  const attemptTag =
    isContainer(step) && attempt > 1 ? `${execution.attemptTag}~${attempt}` : execution.attemptTag;
  const execute = (signal: AbortSignal): Promise<StepOutcome> =>
    executeStep({ ...execution, signal, attemptTag }, step, open, {
      path,
      key: `${execution.facts.id}:${path}${execution.attemptTag}:${open.attemptGroup}`,
      showInput: (resolved) => {
        shown.text = execution.scrubber === null ? resolved : execution.scrubber.jsonText(resolved);
      },
      runNested,
    });
  const limitMs = timeLimitMs(step);
  if (limitMs === undefined) return execute(execution.signal);
  open.deadlineAt ??= new Date(Date.now() + limitMs);
  const makeReason = (): Error => new DeadlineExceeded(`The step took longer than ${limitMs} ms.`);
  return execution.strands.withDeadline(
    open.deadlineAt,
    execution.signal,
    makeReason,
    async (signal) => {
      try {
        return await execute(signal);
      } catch (thrown) {
        // However the work ended: it was because its time is over.
        if (thrown instanceof Parked || !(signal.reason instanceof DeadlineExceeded)) throw thrown;
        throw signal.reason;
      }
    },
  );
}

function isLeftOut({ scope }: Execution, { when }: CompiledStep): boolean {
  return when !== undefined && !evaluateCondition(when, scope);
}

function recordSkip(execution: Execution, step: CompiledStep, open: OpenStep): StepEnd {
  execution.stepScopes.set(step.id, { output: null, error: null, status: "skipped" });
  record(execution, step, open, { status: "skipped" });
  return { kind: "skipped" };
}

async function recordSuccess(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  outcome: Exclude<StepOutcome, { kind: "failed" }>,
  shown: ShownInput,
): Promise<Outcome> {
  const { journal } = execution;
  if (outcome.kind === "responded") {
    // The response is the output of the step that gave it, not of those around it.
    const output = isContainer(step) ? null : storableJson(outcome.output);
    record(execution, step, open, { status: "success", input: shown.text, output });
    return outcome;
  }
  const { output, outputText } = outcome;
  execution.stepScopes.set(step.id, { output, error: null, status: "success" });
  record(execution, step, open, { status: "success", input: shown.text, output: outputText });
  if (step.checkpoint) journal.announceCheckpoint(step.id);
  if (step.checkpoint || outcome.effect || journal.isFull) await journal.checkpoint();
  return { kind: "done", output };
}

async function recordFailure(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  error: ExecutionError,
  shown: ShownInput,
  output: unknown,
): Promise<Outcome> {
  execution.stepScopes.set(step.id, { output, error, status: "error" });
  record(execution, step, open, {
    status: "error",
    input: shown.text,
    output: output === null ? null : storableJson(output),
    error,
  });
  if (step.onError === "fail") {
    // A container fails with the error of the step inside that failed, and keeps its name.
    const details = { stepId: step.id, path: open.path, ...error.details };
    return { kind: "failed", error: { ...error, details } };
  }
  if (!isContainer(step)) await execution.journal.checkpoint();
  return { kind: "done", output };
}

/** The step had begun when a step around it was decided, or its time was over. */
function recordGivenUp(execution: Execution, step: CompiledStep, open: OpenStep): void {
  const error = {
    code: "CANCELLED",
    message: "The step was given up: a step around it had its outcome, or no time left.",
  };
  execution.stepScopes.set(step.id, { output: null, error, status: "error" });
  record(execution, step, open, { status: "error", error });
}

function record(
  { journal }: Execution,
  step: CompiledStep,
  open: OpenStep,
  result: {
    status: "success" | "error" | "skipped";
    input?: string | null;
    output?: string | null;
    error?: ExecutionError;
  },
): void {
  journal.record(open, {
    stepId: step.id,
    type: step.type,
    status: result.status,
    completedAt: new Date(),
    input: result.input ?? null,
    output: result.output ?? null,
    error: result.error ?? null,
  });
}

function mayRetry({ retry }: CompiledStep, open: OpenStep, error: StepError): boolean {
  return retry !== undefined && error.retryable && open.attempt < retry.maxAttempts;
}

/** Puts off the next attempt; what steps inside a container have done so far counts no more. */
function putOff(
  { journal }: Execution,
  step: CompiledStep,
  open: OpenStep,
  failed: { error: StepError; record: ExecutionError; startedAt: Date },
): "again" {
  const { error, record, startedAt } = failed;
  if (step.retry === undefined) throw new Error("a step without a retry policy is tried again");
  const backoffMs = retryDelayMs(step.retry, open.attempt, Math.random);
  if (isContainer(step)) journal.forgetInside(open.path);
  journal.hold(open, {
    dueAt: new Date(Date.now() + Math.max(backoffMs, error.retryAfterMs ?? 0)),
    deadlineAt: null,
    attempt: open.attempt + 1,
    attemptGroup: open.attemptGroup + (error.answered ? 1 : 0),
    previousAttempts: [
      ...open.previousAttempts,
      { attempt: open.attempt, startedAt: startedAt.toISOString(), error: record },
    ],
  });
  return "again";
}

/** An error as it may be stored: without secrets. */
function cleanRecord({ scrubber }: Execution, error: StepError): ExecutionError {
  const record = error.toRecord();
  if (scrubber === null) return record;
  const details = record.details === undefined ? {} : scrubber.json(record.details);
  return {
    code: record.code,
    message: scrubber.text(record.message),
    ...(record.details === undefined || !isRecord(details) ? {} : { details }),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
