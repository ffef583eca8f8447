import type { ChildRun } from "../../domain/child-run.ts";
import type { RunFacts } from "../../domain/run-facts.ts";
import type { StagedWrite } from "../../journal/staged-write.ts";

/** What a step starts. */
export interface ChildCommand {
  /** Which attempt of which step of the parent: it starts one child, however often it is tried. */
  step: string;
  workflowId: string;
  /** JSON text of an object, and the same parsed. */
  input: string;
  inputValue: unknown;
  waits: boolean;
}

/** The execution's side of child runs (D17). */
export interface ChildRuns {
  /** The child of a step's attempt; null when it was not started. */
  find(parentRunId: string, step: string): Promise<ChildRun | null>;
  /**
   * Starts the child of a step's attempt, unless that was done before. Null: the company has too many
   * pending runs, so it is to be tried again.
   *
   * @param waitedMs for how long the step has tried; it does not wait for ever
   * @throws StepError when the workflow cannot be started with this input, or not any more
   * @throws LeaseLostError when the parent has ended, or another lease has acquired it
   */
  start(parent: RunFacts, command: ChildCommand, waitedMs: number): Promise<ChildRun | null>;
  /**
   * Gives up the child of a step's attempt, unless it has ended: it is cancelled after the commit, with the
   * runs that it waits for in turn.
   */
  giveUp(parent: RunFacts, step: string): StagedWrite;
}
