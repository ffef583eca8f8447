import { storableJson } from "../domain/storable-json.ts";
import type { StepCompletion } from "./execute-step.ts";
import { StepError } from "./step-error.ts";

/** D4: the result of one step. */
export const STEP_OUTPUT_CHARS_MAX = 4 * 1024 * 1024;

/**
 * The completion of a step with this output.
 *
 * @param outputText the output as JSON text fit for storing, if the caller has it already
 * @throws StepError when the output is larger than a step result may be
 */
export function completionOf(
  output: unknown,
  effect: boolean,
  outputText: string = storableJson(output),
): StepCompletion {
  if (outputText.length > STEP_OUTPUT_CHARS_MAX) {
    const message = "The step's output is larger than 4 MiB.";
    throw new StepError("OUTPUT_TOO_LARGE", message, { retryable: false });
  }
  return { kind: "completed", output: output ?? null, outputText, effect };
}
