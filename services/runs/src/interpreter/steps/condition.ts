import { evaluateCondition } from "@workflow/definition";
import type { CompiledConditionStep, CompiledStep } from "@workflow/definition";
import type { OpenStep } from "../../engine/journal.ts";
import type { Execution, RunNested, StepOutcome } from "../execution.ts";
import { completionOf } from "../step-output.ts";

/** Id of the branch that is taken when no other is (D17). */
const ELSE = "else";

/** Runs the steps of the first branch whose condition holds. */
export async function executeCondition(
  execution: Execution,
  step: CompiledConditionStep,
  open: OpenStep,
  showInput: (resolved: string) => void,
  runNested: RunNested,
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
  const outcome = await runNested(taken.steps, `${open.path}.${taken.id}.`);
  if (outcome.kind !== "done") return outcome;
  return completionOf({ branch: taken.id }, false);
}
