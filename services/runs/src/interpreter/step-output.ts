import { outputTooLarge, STEP_OUTPUT_CHARS_MAX } from "../domain/output-limit.ts";
import { storable } from "../domain/storable-json.ts";
import type { Execution, StepCompletion } from "./execution.ts";

/**
 * The completion of a step with this output. Later steps see exactly what is stored, so a run that is
 * taken up again goes the same way. Secrets are removed (D19).
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
 * The same for outputs that may be large: other runs get their turns while secrets are searched for.
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
