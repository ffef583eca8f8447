import { StepError } from "./step-error.ts";

/** Steps that one run may execute, iterations included: more could not be taken up again in time. */
export const STEPS_MAX = 50_000;

/**
 * The run is over one of its limits. The step fails with it and so does the run, whatever the policies
 * of the step and of those around it say: another attempt or another branch only adds to it (D56).
 */
export class RunLimitError extends StepError {}

/** The failure of the step with which a run would hold more than `bytesMax`. */
export function runTooLarge(bytesMax: number): RunLimitError {
  const message = `The inputs and outputs of a run's steps have at most ${bytesMax} bytes in all.`;
  return new RunLimitError("RUN_TOO_LARGE", message, { retryable: false });
}

/** The failure of the step that is one too many, or that is sure to need more than there are left. */
export function runTooLong(): RunLimitError {
  const message = `A run executes at most ${STEPS_MAX} steps in all.`;
  return new RunLimitError("RUN_TOO_LONG", message, { retryable: false });
}
