import { StepError } from "./step-error.ts";

/** D4: the result of one step. */
export const STEP_OUTPUT_CHARS_MAX = 4 * 1024 * 1024;

/** The failure of a step that returns more than it may. */
export function outputTooLarge(): StepError {
  const message = "The step's output is larger than 4 MiB.";
  return new StepError("OUTPUT_TOO_LARGE", message, { retryable: false });
}
