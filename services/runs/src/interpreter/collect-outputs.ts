import { outputTooLarge, STEP_OUTPUT_CHARS_MAX } from "../domain/output-limit.ts";
import type { StepOutput, StepOutputs } from "../journal/step-outputs.ts";

/**
 * The values of outputs, as a container returns them. Outputs that are not in memory are read.
 *
 * @throws StepError when together they are surely larger than a step may return
 */
export async function collectOutputs(
  outputs: StepOutputs,
  wanted: readonly StepOutput[],
): Promise<unknown[]> {
  const chars = wanted.reduce((sum, { charsMin }) => sum + charsMin + 1, 0);
  if (chars > STEP_OUTPUT_CHARS_MAX) throw outputTooLarge();
  await outputs.pin(wanted);
  const values = wanted.map(({ value }) => value);
  outputs.unpin(wanted);
  return values;
}
