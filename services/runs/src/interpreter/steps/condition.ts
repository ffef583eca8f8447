import { evaluateCondition } from "@workflow/definition";
import type { CompiledConditionStep, CompiledStep } from "@workflow/definition";
import type { Attempt, Execution, Outcome, StepOutcome } from "../execution.ts";
import { StepScopes } from "../step-scopes.ts";
import { completionOf } from "../step-output.ts";

/** Id of the branch that is taken when no other is (D17). */
const ELSE = "else";

/** Runs the steps of the first branch whose condition holds. */
export async function executeCondition(
  execution: Execution,
  step: CompiledConditionStep,
  { path, showInput, runNested }: Attempt,
): Promise<StepOutcome> {
  const evaluated: { id: string; matched: boolean }[] = [];
  let taken: { id: string; steps: readonly CompiledStep[] } | null = null;
  for (const branch of step.branches) {
    const matched = evaluateCondition(branch.when, execution.scope);
    evaluated.push({ id: branch.id, matched });
    if (!matched) continue;
    taken = branch;
    break;
  }
  taken ??= { id: ELSE, steps: step.elseSteps };
  showInput(JSON.stringify({ branches: evaluated }));
  const { id } = taken;
  // A run that repeats another may take another branch. Results that it took over from the old branch are
  // dropped.
  execution.journal.forgetPast(path, (part) => part !== id);
  const stepScopes = new StepScopes(execution.stepScopes);
  const nesting = { prefix: `${path}.${id}.`, stepScopes };
  let outcome: Outcome;
  try {
    outcome = await runNested(execution, taken.steps, nesting);
  } finally {
    execution.stepScopes.absorb(stepScopes);
  }
  if (outcome.kind !== "done") return outcome;
  return completionOf(execution, { branch: taken.id }, false);
}
