import { evaluate } from "@workflow/definition";
import type { CompiledAgentStep } from "@workflow/definition";
import { StepError } from "../../domain/step-error.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";

/** Asks an AI agent. No installation has agents yet: the step says so and fails. */
export function executeAgent(
  execution: Execution,
  step: CompiledAgentStep,
  { showInput }: Attempt,
): StepOutcome {
  const agentId = evaluate(step.agentId, execution.scope).masked;
  const input = evaluate(step.input, execution.scope).masked;
  showInput(storableJson({ agentId, input }));
  const message = "No AI provider is set up in this installation.";
  throw new StepError("NOT_CONFIGURED", message, { retryable: false });
}
