import { isUuid } from "@workflow/db";
import { evaluate } from "@workflow/definition";
import type { CompiledWorkflowStep } from "@workflow/definition";
import { isTerminal } from "../../domain/run-status.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { OpenStep } from "../../engine/journal.ts";
import type { ChildRow } from "../../store/child-runs.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { StepError } from "../step-error.ts";
import { completionOf } from "../step-output.ts";
import { Parked } from "../unwinding.ts";

/** D4, as for every other run. */
const INPUT_BYTES_MAX = 1024 * 1024;

/** Starts a run of another workflow and, unless told otherwise, waits for its output (D17). */
export async function executeWorkflow(
  execution: Execution,
  step: CompiledWorkflowStep,
  open: OpenStep,
  { showInput }: Attempt,
): Promise<StepOutcome> {
  const { effects, facts, journal, strands, signal } = execution;
  const command = resolveCommand(execution, step, open, showInput);
  if (!journal.isHeld(open)) {
    journal.hold(open, {});
    await journal.checkpoint();
  }
  let wakes = strands.wakes;
  let child: ChildRow | null = await effects.children.start(facts, command);
  if (!step.wait) return completionOf(execution, { runId: child.id }, true);
  while (child === null || !isTerminal(child.status)) {
    try {
      await strands.wait({ kind: "child", dueAt: null }, signal, wakes);
    } catch (thrown) {
      if (!(thrown instanceof Parked) && !execution.stop.aborted) {
        await effects.children.cancel(facts, command.step);
      }
      throw thrown;
    }
    wakes = strands.wakes;
    child = await effects.children.find(facts.id, command.step);
  }
  if (child.status !== "completed") throw childFailed(child);
  return completionOf(execution, child.output === null ? null : JSON.parse(child.output), true);
}

function resolveCommand(
  execution: Execution,
  step: CompiledWorkflowStep,
  open: OpenStep,
  showInput: (resolved: string) => void,
) {
  const workflowId = evaluate(step.workflowId, execution.scope).value;
  const input = step.input === undefined ? null : evaluate(step.input, execution.scope);
  const value = input === null ? {} : input.value;
  showInput(storableJson({ workflowId, input: input?.masked ?? {}, wait: step.wait }));
  if (typeof workflowId !== "string" || !isUuid(workflowId)) {
    throw invalid("workflowId must be the id of a workflow.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid("input must be an object.");
  }
  // The child's input is stored: it takes no secrets along.
  const stored = execution.scrubber === null ? value : execution.scrubber.json(value);
  const text = storableJson(stored);
  if (Buffer.byteLength(text) > INPUT_BYTES_MAX) throw invalid("input is larger than 1 MiB.");
  return {
    step: `${open.path}${execution.attemptTag}:${open.attempt}`,
    workflowId: workflowId.toLowerCase(),
    input: text,
    inputValue: stored,
    waits: step.wait,
  };
}

function childFailed(child: ChildRow): StepError {
  const reason = child.error === null ? "." : `: ${child.error.message}`;
  return new StepError("CHILD_RUN_FAILED", `The run ${child.id} ended ${child.status}${reason}`, {
    details: {
      childRunId: child.id,
      status: child.status,
      ...(child.error === null ? {} : { error: child.error }),
    },
  });
}

function invalid(message: string): StepError {
  return new StepError("INVALID_INPUT", message, { retryable: false });
}
