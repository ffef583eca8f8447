import type { CompiledStep } from "@workflow/definition";
import { Parked, RunFailed } from "./control-flow-signals.ts";
import type { Execution, Nesting, Outcome } from "./execution.ts";
import type { Parking } from "./fibers.ts";
import { runStep } from "./run-step.ts";
import { NO_OUTPUT } from "../journal/step-outputs.ts";
import type { StepOutput } from "../journal/step-outputs.ts";

/**
 * Takes a run as far as it will go: until its end, or until all that is left has to wait. Results of
 * earlier executions are taken over. So it can be called again after a wait, or by another worker after a
 * crash.
 */
export async function advance(
  execution: Execution,
): Promise<Outcome | { kind: "waiting"; parking: Parking }> {
  try {
    return await runSequence(execution, execution.definition.steps, "");
  } catch (thrown) {
    if (thrown instanceof RunFailed) return { kind: "failed", error: thrown.failure };
    const { parking } = execution.fibers;
    if (!(thrown instanceof Parked) || parking === null) throw thrown;
    return { kind: "waiting", parking };
  }
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
  const { journal, signal, fairness } = execution;
  let output: StepOutput = NO_OUTPUT;
  for (const step of steps) {
    const path = prefix + step.id;
    // In a branch that was given up, a step that has begun still records that.
    if (signal.aborted && (execution.stop.aborted || !journal.isBegun(path))) {
      signal.throwIfAborted();
    }
    const pause = fairness.yieldIfDue();
    if (pause !== undefined) await pause;
    const outcome = await runStep(execution, step, path, runNested);
    if (outcome.kind === "skipped") continue;
    if (outcome.kind !== "done") return outcome;
    output = outcome.output;
  }
  return { kind: "done", output };
}

/** Runs nested steps in the scope that their container made for them. */
async function runNested(
  around: Execution,
  steps: readonly CompiledStep[],
  { prefix, stepScopes, loop, signal }: Nesting,
): Promise<Outcome> {
  const execution: Execution = {
    ...around,
    stepScopes,
    scope: {
      ...around.scope,
      steps: stepScopes,
      ...(loop === undefined ? {} : { loop }),
    },
    signal: signal ?? around.signal,
  };
  return runSequence(execution, steps, prefix);
}
