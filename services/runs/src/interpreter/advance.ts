import { setImmediate as nextTurn } from "node:timers/promises";
import type { CompiledStep } from "@workflow/definition";
import type { Execution, Fairness, Nesting, Outcome } from "./execution.ts";
import { runStep } from "./run-step.ts";
import type { Parking } from "./strands.ts";
import { Parked } from "./unwinding.ts";

/** A run may hold the event loop for so long before others get a turn. */
const TURN_MS = 8;

/**
 * Takes a run as far as it will go: through every step whose turn it is, until the end or until
 * nothing is left but waiting. Results that earlier executions wrote are taken over, so that it can
 * be called again after a wait or by another worker after a crash.
 */
export async function advance(
  execution: Execution,
): Promise<Outcome | { kind: "waiting"; parking: Parking }> {
  try {
    return await runSequence(execution, execution.definition.steps, "");
  } catch (thrown) {
    const { parking } = execution.strands;
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
  let output: unknown = null;
  for (const step of steps) {
    const path = prefix + step.id;
    // A step of a branch that was given up which has begun before records that.
    if (signal.aborted && (execution.stop.aborted || !journal.isBegun(path))) {
      signal.throwIfAborted();
    }
    const turn = fairness.turn();
    if (turn !== undefined) await turn;
    const outcome = await runStep(execution, step, path, runNested);
    if (outcome.kind === "skipped") continue;
    if (outcome.kind !== "done") return outcome;
    output = outcome.output;
  }
  return { kind: "done", output };
}

/** Runs nested steps in the scope that their container has made for them. */
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

/** Counts the time since the event loop was last given to others. */
export function createFairness(): Fairness {
  let turnEndsAt = performance.now() + TURN_MS;
  const next = async (): Promise<void> => {
    await nextTurn();
    turnEndsAt = performance.now() + TURN_MS;
  };
  return { turn: () => (performance.now() > turnEndsAt ? next() : undefined) };
}
