import { actionStep } from "./action-step.ts";
import { agentStep } from "./agent-step.ts";
import { approvalStep } from "./approval-step.ts";
import { conditionStep } from "./condition-step.ts";
import { delayStep } from "./delay-step.ts";
import { emailStep } from "./email-step.ts";
import { loopStep } from "./loop-step.ts";
import { parallelStep } from "./parallel-step.ts";
import type { StepType } from "./step-type.ts";
import { transformStep } from "./transform-step.ts";
import { workflowStep } from "./workflow-step.ts";

/** All step types (D17). */
export const STEP_TYPES: readonly StepType[] = [
  actionStep,
  emailStep,
  transformStep,
  conditionStep,
  parallelStep,
  loopStep,
  agentStep,
  delayStep,
  approvalStep,
  workflowStep,
];

const byType = new Map(STEP_TYPES.map((stepType) => [stepType.type, stepType]));

/** The step type of this name, or undefined. */
export function findStepType(type: string): StepType | undefined {
  return byType.get(type);
}
