import { evaluate } from "@workflow/definition";
import type { CompiledActionStep } from "@workflow/definition";
import { findPureAction } from "../../actions/registry.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { StepError } from "../step-error.ts";
import { completionOf } from "../step-output.ts";
import { requestHttp } from "./http-request.ts";

/** Executes an action (D17). */
export async function executeAction(
  execution: Execution,
  step: CompiledActionStep,
  { key, showInput }: Attempt,
): Promise<StepOutcome> {
  const inputs = evaluate(step.inputs, execution.scope);
  showInput(storableJson(inputs.masked));
  const pure = findPureAction(step.action);
  if (pure !== undefined) return completionOf(execution, pure(inputs.value), false);
  switch (step.action) {
    case "workflow.respond":
      return respond(execution, inputs.value);
    case "http.request": {
      execution.journal.markStarted(execution.onStop);
      const { http } = execution.effects;
      return completionOf(
        execution,
        await requestHttp(http, inputs.value, key, execution.signal),
        true,
      );
    }
    default: {
      const message = `The action ${step.action} is not available in this installation.`;
      throw new StepError("NOT_CONFIGURED", message, { retryable: false });
    }
  }
}

/** Ends the run with this output, from whatever depth. */
function respond(execution: Execution, inputs: unknown): StepOutcome {
  const given = typeof inputs === "object" && inputs !== null && "output" in inputs;
  const { output } = completionOf(execution, given ? inputs.output : null, false);
  return { kind: "responded", output };
}
