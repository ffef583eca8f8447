import type { CompiledStep } from "@workflow/definition";
import type { OpenStep } from "../engine/journal.ts";
import type { Execution, Outcome } from "./advance.ts";
import { executeAction } from "./steps/action.ts";
import { executeCondition } from "./steps/condition.ts";
import { executeDelay } from "./steps/delay.ts";
import { executeTransform } from "./steps/transform.ts";

/** A step that did its work. */
export interface StepCompletion {
  kind: "completed";
  output: unknown;
  /** The output as JSON text fit for storing. */
  outputText: string;
  /** Whether it had an effect outside, so that its result is written before the next step begins. */
  effect: boolean;
}

/** What a step came to: its own end, or that something in it waits or has failed the run. */
export type StepOutcome = StepCompletion | Exclude<Outcome, { kind: "done" }>;

/**
 * Executes one attempt of a step.
 *
 * @param showInput is given the resolved config as JSON text with secrets masked, for the record
 * @throws StepError or TemplateError when the attempt failed
 */
export async function executeStep(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  showInput: (resolved: string) => void,
): Promise<StepOutcome> {
  switch (step.type) {
    case "action":
      return executeAction(execution, step, open, showInput);
    case "transform":
      return executeTransform(execution, step, showInput);
    case "condition":
      return executeCondition(execution, step, open, showInput);
    case "delay":
      return executeDelay(execution, step, open, showInput);
  }
}
