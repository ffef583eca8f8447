import type { CompiledStep } from "@workflow/definition";
import type { OpenStep } from "../engine/journal.ts";
import type { Execution, RunNested, StepOutcome } from "./execution.ts";
import { executeAction } from "./steps/action.ts";
import { executeCondition } from "./steps/condition.ts";
import { executeDelay } from "./steps/delay.ts";
import { executeTransform } from "./steps/transform.ts";

/**
 * Executes one attempt of a step.
 *
 * @param showInput is given the resolved config as JSON text with secrets masked, for the record
 * @throws StepError or TemplateError when the attempt failed
 */
export async function executeStep(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  showInput: (resolved: string) => void,
  runNested: RunNested,
): Promise<StepOutcome> {
  switch (step.type) {
    case "action":
      return executeAction(execution, step, open, showInput);
    case "transform":
      return executeTransform(execution, step, showInput);
    case "condition":
      return executeCondition(execution, step, open, showInput, runNested);
    case "delay":
      return executeDelay(execution, step, open, showInput);
    default:
      return step satisfies never;
  }
}
