import type { ExecutionError } from "../domain/execution-error.ts";

/**
 * Signals that are thrown to end an execution, or a part of it, without a failure. A signal passes every
 * step on its way. Steps that can still be written record that they were given up.
 */

/** All that is left has to wait; the run goes on under another lease. */
export class Parked extends Error {
  override readonly name = "Parked";
}

/** The parallel step around this branch has its outcome, or cannot have one any more. */
export class BranchCancelled extends Error {
  override readonly name = "BranchCancelled";
}

/** The run has failed as a whole, whatever the steps around this one make of failures (D56). */
export class RunFailed extends Error {
  override readonly name = "RunFailed";
  readonly failure: ExecutionError;

  constructor(failure: ExecutionError) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The timeout of a step around this one is over. */
export class DeadlineExceeded extends Error {
  override readonly name = "DeadlineExceeded";
}
