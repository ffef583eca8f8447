import { StepError } from "./step-error.ts";

/** The largest result of one step (D4). */
export const STEP_OUTPUT_CHARS_MAX = 4 * 1024 * 1024;

/**
 * The failure of a step whose output is too large.
 *
 * @param chars length of the output's JSON text; undefined where the text was not completed
 */
export function outputTooLarge(chars?: number): StepError {
  const message = "The step's output is larger than 4 MiB";
  if (chars === undefined)
    return new StepError("OUTPUT_TOO_LARGE", `${message}.`, { retryable: false });
  return new StepError("OUTPUT_TOO_LARGE", `${message}: it has ${chars} characters of JSON.`, {
    retryable: false,
    details: { chars, charsMax: STEP_OUTPUT_CHARS_MAX },
  });
}
