import { evaluate } from "@workflow/definition";
import type { CompiledActionStep } from "@workflow/definition";
import type { OpenStep } from "../../engine/journal.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { Execution } from "../advance.ts";
import type { StepCompletion } from "../execute-step.ts";
import { completionOf } from "../step-output.ts";
import { StepError } from "../step-error.ts";
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
  execution.journal.markStarted(execution.onLeaseLost);
  const idempotencyKey = `${execution.facts.id}:${open.path}:${open.attemptGroup}`;
  const stop = withTimeout(execution.signal, step.timeoutMs);
  try {
    const output = await requestHttp(
      execution.effects.http,
      inputs.value,
      idempotencyKey,
      stop.signal,
    );
    return completionOf(output, true);
  } catch (error) {
    if (stop.timedOut()) {
      throw new StepError("TIMEOUT", `The step took longer than ${step.timeoutMs} ms.`);
    }
    throw error;
  } finally {
    stop.release();
  }
}

/** A signal that is also aborted when the step's own time is over (D16). */
function withTimeout(signal: AbortSignal, timeoutMs: number | undefined) {
  if (timeoutMs === undefined) {
    return { signal, timedOut: () => false, release: () => {} };
  }
  const controller = new AbortController();
  let timedOut = false;
  const onAbort = (): void => controller.abort();
  const timer = setTimeout(() => {
    timedOut = true;
    controller.abort();
  }, timeoutMs);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) controller.abort();
  return {
    signal: controller.signal,
    timedOut: () => timedOut,
    release: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}
