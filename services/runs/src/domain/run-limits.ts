import { StepError } from "./step-error.ts";

/** Most steps that one run may execute, iterations included. More could not be loaded again in time. */
export const STEPS_MAX = 50_000;

/**
 * The run is over one of its limits. The step and the run fail, whatever the policies of the step and its
 * containers say: another attempt or branch would only add to it (D56).
 */
export class RunLimitError extends StepError {}

/** The failure of the step with which a run would hold more than `bytesMax`. */
export function runTooLarge(bytesMax: number): RunLimitError {
  const message = `The inputs and outputs of a run's steps have at most ${bytesMax} bytes in all.`;
  return new RunLimitError("RUN_TOO_LARGE", message, { retryable: false });
}

/** The failure of the step that is one too many, or that surely needs more steps than are left. */
export function runTooLong(): RunLimitError {
  const message = `A run executes at most ${STEPS_MAX} steps in all.`;
  return new RunLimitError("RUN_TOO_LONG", message, { retryable: false });
}
