import type { ChildRun } from "../../domain/child-run.ts";
import type { RunFacts } from "../../domain/run-facts.ts";
import type { StagedWrite } from "../../journal/staged-write.ts";

/** What starts a child run. */
export interface ChildCommand {
  /** The attempt of a step of the parent. It starts one child, however often it is tried. */
  step: string;
  workflowId: string;
  /** JSON text of an object, and the same parsed. */
  input: string;
  inputValue: unknown;
  waits: boolean;
}

/** The execution's side of child runs (D17). */
export interface ChildRuns {
  /** The child of a step's attempt; null when none was started. */
  find(parentRunId: string, step: string): Promise<ChildRun | null>;
  /**
   * Starts the child of a step's attempt, unless that was done before.
   *
   * @param waitedMs how long the step has tried already; the tries end after some time
   * @returns null when the company has too many pending runs; the start is to be tried again
   * @throws StepError when the workflow cannot be started with this input, or the tries have ended
   * @throws LeaseLostError when the parent has ended, or another lease has acquired it
   */
  start(parent: RunFacts, command: ChildCommand, waitedMs: number): Promise<ChildRun | null>;
  /**
   * Gives up the child of a step's attempt, unless it has ended. The child, and the runs that it waits
   * for, are cancelled after the commit.
   */
  giveUp(parent: RunFacts, step: string): StagedWrite;
}
