import { storable } from "../domain/storable-json.ts";
import type { StepCompletion } from "./execution.ts";
import { StepError } from "./step-error.ts";

/** D4: the result of one step. */
const STEP_OUTPUT_CHARS_MAX = 4 * 1024 * 1024;

/**
 * The completion of a step with this output. What later steps see is what is stored, so that a run
 * that is taken up again goes the same way.
 *
 * @throws StepError when the output is larger than a step result may be
 */
export function completionOf(output: unknown, effect: boolean): StepCompletion {
  const { value, text } = storable(output);
  if (text.length > STEP_OUTPUT_CHARS_MAX) {
    const message = "The step's output is larger than 4 MiB.";
    throw new StepError("OUTPUT_TOO_LARGE", message, { retryable: false });
  }
  return { kind: "completed", output: value, outputText: text, effect };
}
