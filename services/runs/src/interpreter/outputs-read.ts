import type { CompiledStep } from "@workflow/definition";
import { StepError } from "../domain/step-error.ts";
import type { StepOutput } from "../journal/step-outputs.ts";
import type { Execution } from "./execution.ts";

/** More bytes than an expression may be given, in whatever characters: 3 bytes for each of 16 Mi. */
const EXPRESSION_BYTES_MAX = 3 * 16 * 1024 * 1024;

/**
 * The outputs that have to be in memory while a step is attempted (D56).
 *
 * @throws StepError when an expression would see more than it may be given
 */
export function outputsReadBy({ stepScopes }: Execution, step: CompiledStep): StepOutput[] {
  const outputs = stepScopes.outputsOf(step.readsOutputs);
  if (step.readsOutputs !== "all") return outputs;
  if (outputs.reduce((sum, { bytes }) => sum + bytes, 0) > EXPRESSION_BYTES_MAX) {
    const message = "The expression sees too much: give it an input with what it needs.";
    throw new StepError("EXPRESSION_MEMORY", message, { retryable: false });
  }
  return outputs;
}
