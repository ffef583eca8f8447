import type { CompiledStep } from "@workflow/definition";
import type { OpenStep } from "../domain/step-records.ts";
import type { Attempt, Execution, StepOutcome } from "./execution.ts";
import { executeAction } from "./steps/action.ts";
import { executeAgent } from "./steps/agent.ts";
import { executeApproval } from "./steps/approval.ts";
import { executeCondition } from "./steps/condition.ts";
import { executeDelay } from "./steps/delay.ts";
import { executeEmail } from "./steps/email.ts";
import { executeLoop } from "./steps/loop.ts";
import { executeParallel } from "./steps/parallel.ts";
import { executeTransform } from "./steps/transform.ts";
import { executeWorkflow } from "./steps/workflow.ts";

/**
 * Executes one attempt of a step.
 *
 * @throws StepError or TemplateError when the attempt failed
 */
export async function executeStep(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  attempt: Attempt,
): Promise<StepOutcome> {
  switch (step.type) {
    case "action":
      return executeAction(execution, step, open, attempt);
    case "agent":
      return executeAgent(execution, step, open, attempt);
    case "approval":
      return executeApproval(execution, step, open, attempt);
    case "condition":
      return executeCondition(execution, step, attempt);
    case "delay":
      return executeDelay(execution, step, open, attempt);
    case "email":
      return executeEmail(execution, step, open, attempt);
    case "loop":
      return executeLoop(execution, step, attempt);
    case "parallel":
      return executeParallel(execution, step, attempt);
    case "transform":
      return executeTransform(execution, step, attempt);
    case "workflow":
      return executeWorkflow(execution, step, open, attempt);
    default:
      return step satisfies never;
  }
}
