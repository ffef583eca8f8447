import type { CompiledStep } from "@workflow/definition";
import type { ExecutionError, FoundError } from "../domain/execution-error.ts";
import type { RunLimitError } from "../domain/run-limits.ts";
import type { OpenStep } from "../domain/step-records.ts";
import { storable } from "../domain/storable-json.ts";
import type { StepOutput } from "../journal/step-outputs.ts";
import { RunFailed } from "./control-flow-signals.ts";
import { toErrorRecord } from "./error-record.ts";
import type { Execution, Outcome, StepOutcome } from "./execution.ts";
import { isContainer } from "./step-traits.ts";

/** The end of a step, or `skipped`. */
export type StepEnd = Outcome | { kind: "skipped" };

/** The config of a step as its record shows it: JSON text with secrets masked. */
export interface ShownInput {
  text: string | null;
}

/** Records that a step's condition did not hold. */
export function recordSkip(execution: Execution, step: CompiledStep, open: OpenStep): StepEnd {
  const output = record(execution, step, open, { status: "skipped" });
  execution.stepScopes.set(step.id, { output, error: null, status: "skipped" });
  return { kind: "skipped" };
}

/** Records a step that completed. A step that had an effect is written at once. */
export async function recordSuccess(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  { outcome, shown }: { outcome: Exclude<StepOutcome, { kind: "failed" }>; shown: ShownInput },
): Promise<Outcome> {
  const { journal } = execution;
  if (outcome.kind === "responded") {
    // The response is the output of the step that gave it, not of the steps around it.
    const output = isContainer(step) ? null : made(outcome.output);
    record(execution, step, open, { status: "success", input: shown.text, output });
    return outcome;
  }
  const output = record(execution, step, open, {
    status: "success",
    input: shown.text,
    output: { value: outcome.output, text: outcome.outputText },
  });
  execution.stepScopes.set(step.id, { output, error: null, status: "success" });
  if (step.checkpoint) journal.announceCheckpoint(step.id);
  if (step.checkpoint || outcome.effect || journal.isFull) await journal.checkpoint();
  return { kind: "done", output };
}

/** Records a step that has failed for good. */
export async function recordFailure(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  { error, shown, given }: { error: ExecutionError; shown: ShownInput; given: unknown },
): Promise<Outcome> {
  const output = record(execution, step, open, {
    status: "error",
    input: shown.text,
    output: given === null ? null : made(given),
    error,
  });
  execution.stepScopes.set(step.id, { output, error, status: "error" });
  if (step.onError === "fail") return { kind: "failed", error: located(error, step, open) };
  if (!isContainer(step)) await execution.journal.checkpoint();
  return { kind: "done", output };
}

/** Records a step that had begun when a step around it had its outcome or its timeout. */
export function recordGivenUp(execution: Execution, step: CompiledStep, open: OpenStep): void {
  const error: FoundError = {
    code: "CANCELLED",
    message: "The step was given up: a step around it had its outcome, or no time left.",
  };
  const output = record(execution, step, open, { status: "error", error });
  execution.stepScopes.set(step.id, { output, error, status: "error" });
}

/**
 * Records the step that is over a limit of the run. It keeps neither input nor output, which may be what
 * is too much.
 */
export async function failRun(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  limit: RunLimitError,
): Promise<RunFailed> {
  const error = await toErrorRecord(limit, execution.scrubber);
  record(execution, step, open, { status: "error", error });
  return new RunFailed(located(error, step, open));
}

/** Records a container in which a nested step has failed the run. */
export function recordFailedInside(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  error: ExecutionError,
): void {
  record(execution, step, open, { status: "error", error });
}

/** A container fails with the error of the nested step, and names that step. */
function located(error: ExecutionError, step: CompiledStep, { path }: OpenStep): ExecutionError {
  return { ...error, details: { stepId: step.id, path, ...error.details } };
}

function made(given: unknown): { value: unknown; text: string } {
  const { value, text } = storable(given);
  return { value, text };
}

/** @throws RunLimitError when the run would then hold too much */
function record(
  { clock, journal, stepObserver }: Execution,
  step: CompiledStep,
  open: OpenStep,
  result: {
    status: "success" | "error" | "skipped";
    input?: string | null;
    output?: { value: unknown; text: string } | null;
    error?: ExecutionError;
  },
): StepOutput {
  const completedAt = new Date(clock.now());
  stepObserver?.stepEnded(
    step.type,
    result.status,
    completedAt.getTime() - open.startedAt.getTime(),
  );
  return journal.record(open, {
    stepId: step.id,
    type: step.type,
    status: result.status,
    completedAt,
    input: result.input ?? null,
    output: result.output ?? null,
    error: result.error ?? null,
  });
}
