import type { CompiledStep } from "@workflow/definition";
import type { Execution, Outcome } from "./execution.ts";
import type { StepResult } from "../journal/step-results.ts";

/** Takes over what an earlier execution has recorded of a step. */
export function replayStep(
  execution: Execution,
  step: CompiledStep,
  past: StepResult,
): Outcome | { kind: "skipped" } {
  // What ran inside it can be referred to from after it, too (D16).
  for (const inside of lastIterations(execution.journal.pastInside(past.path), past.path)) {
    show(execution, inside);
  }
  show(execution, past);
  if (past.status === "skipped") return { kind: "skipped" };
  if (past.error !== null && step.onError === "fail") {
    const details = { stepId: step.id, path: past.path, ...past.error.details };
    return { kind: "failed", error: { ...past.error, details } };
  }
  return { kind: "done", output: past.output };
}

function show({ stepScopes }: Execution, { stepId, output, error, status }: StepResult): void {
  stepScopes.set(stepId, { output, error, status });
}

const ITERATION = /\[(\d+)\]/g;

/**
 * Of the results inside a container those of the last iteration of each loop: what a step in an
 * earlier one did is not seen when it did not run in the last.
 */
function lastIterations(inside: readonly StepResult[], containerPath: string): StepResult[] {
  const iterations = inside.map(({ path }) =>
    Array.from(path.slice(containerPath.length).matchAll(ITERATION), (match) => ({
      loop: path.slice(0, containerPath.length + match.index),
      index: Number(match[1]),
    })),
  );
  const last = new Map<string, number>();
  for (const { loop, index } of iterations.flat()) {
    last.set(loop, Math.max(last.get(loop) ?? 0, index));
  }
  return inside.filter((_, position) =>
    (iterations[position] ?? []).every(({ loop, index }) => last.get(loop) === index),
  );
}
