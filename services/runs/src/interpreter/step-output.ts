import { outputTooLarge, STEP_OUTPUT_CHARS_MAX } from "../domain/output-limit.ts";
import { storable } from "../domain/storable-json.ts";
import type { Execution, StepCompletion } from "./execution.ts";

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
  return toCompletion(scrubber === null ? output : scrubber.json(output), effect);
}

/**
 * The same for outputs that may be large: other runs have their turns while secrets are looked for.
 *
 * @throws StepError when the output is larger than a step result may be
 */
export async function completionInTurns(
  { scrubber }: Execution,
  output: unknown,
  effect: boolean,
): Promise<StepCompletion> {
  return toCompletion(scrubber === null ? output : await scrubber.jsonInTurns(output), effect);
}

function toCompletion(clean: unknown, effect: boolean): StepCompletion {
  const { value, text } = storable(clean);
  if (text.length > STEP_OUTPUT_CHARS_MAX) throw outputTooLarge(text.length);
  return { kind: "completed", output: value, outputText: text, effect };
}
