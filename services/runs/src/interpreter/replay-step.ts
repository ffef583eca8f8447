import type { CompiledStep } from "@workflow/definition";
import type { Execution, Outcome } from "./execution.ts";
import type { StepResult } from "../journal/step-results.ts";

/** Takes over the recorded result of a step from an earlier execution. */
export function replayStep(
  execution: Execution,
  step: CompiledStep,
  past: StepResult,
): Outcome | { kind: "skipped" } {
  // Later steps can refer to what ran inside the step, too (D16).
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
 * The results inside a container, with only the last iteration of each loop: a step that ran in an
 * earlier iteration but not in the last is not seen.
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
