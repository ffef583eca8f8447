import { evaluate } from "@workflow/definition";
import type { CompiledTransformStep } from "@workflow/definition";
import { nestsTooDeep } from "../../domain/json-nesting.ts";
import { StepError } from "../../domain/step-error.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { Attempt, Execution, StepCompletion } from "../execution.ts";
import { completionInTurns, completionOf } from "../step-output.ts";

/** Executes a transform: a mapping with templates, or a JSONata expression (D17). */
export async function executeTransform(
  execution: Execution,
  step: CompiledTransformStep,
  { showInput }: Attempt,
): Promise<StepCompletion> {
  const { scope } = execution;
  if (step.transform.kind === "mapping") {
    const mapping = evaluate(step.transform.mapping, scope);
    const completion = completionOf(execution, mapping.value, false);
    const masked =
      mapping.masked === mapping.value ? completion.outputText : storableJson(mapping.masked);
    showInput(`{"mapping":${masked}}`);
    return completion;
  }
  const { expression, input } = step.transform;
  const document = input === undefined ? undefined : evaluate(input, scope);
  const shown = document === undefined ? {} : { input: document.masked };
  showInput(storableJson({ expression, ...shown }));
  const visible = JSON.stringify(document === undefined ? visibleScope(execution) : document.value);
  const text = await execution.effects.expressions.evaluate(
    execution.facts.companyId,
    expression,
    visible ?? "null",
    execution.signal,
  );
  const output: unknown = JSON.parse(text);
  if (nestsTooDeep(output)) {
    const message = "The result of the expression nests too many arrays and objects.";
    throw new StepError("EXPRESSION_FAILED", message, { retryable: false });
  }
  return completionInTurns(execution, output, false);
}

/** The input of an expression that has none of its own: everything but secrets. */
function visibleScope({ scope, stepScopes }: Execution): Record<string, unknown> {
  const { input, trigger, run, loop } = scope;
  return { input, steps: stepScopes.toObject(), trigger, run, loop };
}
