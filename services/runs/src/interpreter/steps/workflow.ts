import { isUuid } from "@workflow/db";
import { evaluate } from "@workflow/definition";
import type { CompiledWorkflowStep } from "@workflow/definition";
import type { ChildRun } from "../../domain/child-run.ts";
import { isTerminal } from "../../domain/run-status.ts";
import { StepError } from "../../domain/step-error.ts";
import type { OpenStep } from "../../domain/step-records.ts";
import { storableJson } from "../../domain/storable-json.ts";
import { Parked } from "../control-flow-signals.ts";
import type { ChildCommand } from "../effects/child-runs.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { completionInTurns, completionOf } from "../step-output.ts";

/** The limit for the input of every run (D4). */
const INPUT_BYTES_MAX = 1024 * 1024;
/** The pause between two tries to start a child while the company's backlog is full. */
const PAUSE_MS = { least: 1_000, most: 60_000 } as const;

/** Starts a run of another workflow and, unless told otherwise, waits for its output (D17). */
export async function executeWorkflow(
  execution: Execution,
  step: CompiledWorkflowStep,
  open: OpenStep,
  { showInput }: Attempt,
): Promise<StepOutcome> {
  const { effects, facts, journal, fibers, signal } = execution;
  const command = resolveCommand(execution, step, open, showInput);
  if (!journal.isPersisted(open)) {
    journal.persistWait(open, {});
    await journal.checkpoint();
  }
  let wakes = fibers.wakes;
  let child: ChildRun | null = await startChild(execution, open, command);
  if (!step.wait) return completionOf(execution, { runId: child.id }, true);
  while (child === null || !isTerminal(child.status)) {
    try {
      await fibers.wait({ kind: "child", dueAt: null }, signal, wakes);
    } catch (thrown) {
      if (!(thrown instanceof Parked) && !execution.stop.aborted) {
        journal.stage(effects.children.giveUp(facts, command.step));
      }
      throw thrown;
    }
    wakes = fibers.wakes;
    child = await effects.children.find(facts.id, command.step);
  }
  if (child.status !== "completed") throw childFailed(child);
  return completionInTurns(
    execution,
    child.output === null ? null : JSON.parse(child.output),
    true,
  );
}

/** Starts the child. While the company has too many pending runs it tries again after growing pauses. */
async function startChild(
  { clock, effects, facts, fibers, signal }: Execution,
  open: OpenStep,
  command: ChildCommand,
): Promise<ChildRun> {
  for (;;) {
    const waitedMs = clock.now() - open.startedAt.getTime();
    const child = await effects.children.start(facts, command, waitedMs);
    if (child !== null) return child;
    const pauseMs = Math.min(Math.max(waitedMs / 2, PAUSE_MS.least), PAUSE_MS.most);
    // A part of the pause is random, so that steps that were refused together do not come back together.
    const dueAt = new Date(clock.now() + pauseMs * (0.8 + 0.4 * Math.random()));
    await fibers.wait({ kind: "retry", dueAt }, signal);
  }
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
  // The child's input is stored, so secrets are removed from it.
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

function childFailed(child: ChildRun): StepError {
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
