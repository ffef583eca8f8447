import { storable } from "../domain/storable-json.ts";
import type { Execution, StepCompletion } from "./execution.ts";
import { outputTooLarge, STEP_OUTPUT_CHARS_MAX } from "./output-limit.ts";

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
