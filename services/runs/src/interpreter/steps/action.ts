import { evaluate } from "@workflow/definition";
import type { CompiledActionStep, EvaluatedValue } from "@workflow/definition";
import { findPureAction } from "../../actions/registry.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { StepError } from "../step-error.ts";
import { completionOf } from "../step-output.ts";
import { withoutWords } from "../without-words.ts";
import { requestHttp } from "./http-request.ts";
import { runTableAction } from "./table-action.ts";

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
      execution.journal.markStarted();
      const { http } = execution.effects;
      const output = await requestHttp(http, inputs.value, key, execution.signal).catch(
        (error: unknown) => {
          throw namesSecretHost(inputs) ? withoutWords(error) : error;
        },
      );
      return completionOf(execution, output, true);
    }
    case "table.query":
    case "table.insert":
    case "table.update":
    case "table.delete": {
      const reads = step.action === "table.query";
      if (!reads) execution.journal.markStarted();
      const output = await runTableAction(execution, step.action, inputs.value, key).catch(
        (error: unknown) => {
          // Problems quote what a filter or a row says.
          throw inputs.masked === inputs.value ? error : withoutWords(error);
        },
      );
      return completionOf(execution, output, !reads);
    }
    default: {
      const message = `The action ${step.action} is not available in this installation.`;
      throw new StepError("NOT_CONFIGURED", message, { retryable: false });
    }
  }
}

/**
 * Whether the address of a request comes from a secret. What is said of it then, a host in lower case
 * for example, is a form of the secret that nobody can look for.
 */
function namesSecretHost({ value, masked }: EvaluatedValue): boolean {
  return memberOf(value, "url") !== memberOf(masked, "url");
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Ends the run with this output, from whatever depth. */
function respond(execution: Execution, inputs: unknown): StepOutcome {
  const given = typeof inputs === "object" && inputs !== null && "output" in inputs;
  const { output } = completionOf(execution, given ? inputs.output : null, false);
  return { kind: "responded", output };
}
