import { storable } from "../domain/storable-json.ts";
import type { Execution, StepCompletion } from "./execution.ts";
import { StepError } from "./step-error.ts";

/** D4: the result of one step. */
export const STEP_OUTPUT_CHARS_MAX = 4 * 1024 * 1024;

/**
 * The completion of a step with this output. What later steps see is what is stored, so that a run
 * that is taken up again goes the same way; secrets are not in it (D19).
 *
 * @throws StepError when the output is larger than a step result may be
 */
export function completionOf(
  { scrubber }: Execution,
  output: unknown,
  effect: boolean,
): StepCompletion {
  const { value, text } = storable(scrubber === null ? output : scrubber.json(output));
  if (text.length > STEP_OUTPUT_CHARS_MAX) throw outputTooLarge();
  return { kind: "completed", output: value, outputText: text, effect };
}

/** The failure of a step that returns more than it may. */
export function outputTooLarge(): StepError {
  const message = "The step's output is larger than 4 MiB.";
  return new StepError("OUTPUT_TOO_LARGE", message, { retryable: false });
}
