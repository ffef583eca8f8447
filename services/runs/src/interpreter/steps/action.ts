import { evaluate } from "@workflow/definition";
import type { CompiledActionStep } from "@workflow/definition";
import type { OpenStep } from "../../engine/journal.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { Execution, StepCompletion } from "../execution.ts";
import { completionOf } from "../step-output.ts";
import { withTimeout } from "../with-timeout.ts";
import { requestHttp } from "./http-request.ts";

/**
 * Executes an action. The outside sees an idempotency key that stays the same when a worker dies in
 * the middle and another takes over, and when nobody can tell whether the receiver got the request.
 */
export async function executeAction(
  execution: Execution,
  step: CompiledActionStep,
  open: OpenStep,
  showInput: (resolved: string) => void,
): Promise<StepCompletion> {
  const inputs = evaluate(step.inputs, execution.scope);
  showInput(storableJson(inputs.masked));
  execution.journal.markStarted(open, execution.onStop);
  const idempotencyKey = `${execution.facts.id}:${open.path}:${open.attemptGroup}`;
  return withTimeout(execution.signal, step.timeoutMs, async (signal) => {
    const output = await requestHttp(execution.effects.http, inputs.value, idempotencyKey, signal);
    return completionOf(output, true);
  });
}
