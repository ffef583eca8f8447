import type { CompiledStep } from "@workflow/definition";
import type { Span } from "@workflow/tracing";
import type { RunFacts } from "../domain/run-facts.ts";
import { StepError } from "../domain/step-error.ts";
import type { OpenStep } from "../domain/step-records.ts";
import { Parked, RunFailed } from "./control-flow-signals.ts";
import type { Execution, StepOutcome } from "./execution.ts";

/**
 * Makes one attempt of a step under a span of its own, where the run's trace is recorded. Calls of the
 * attempt are inside that span. Beyond the run's budget neither the attempt nor its calls are recorded.
 */
export function inStepSpan(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  work: (facts: RunFacts) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const { facts } = execution;
  if (facts.traceparent === null) return work(facts);
  if (!execution.spans.take()) return work({ ...facts, traceparent: null });
  const span = execution.tracer?.span(`step ${step.type}`, facts.traceparent, {
    attributes: {
      "workflow.run.id": facts.id,
      "workflow.company.id": facts.companyId,
      "workflow.request.id": facts.requestId ?? undefined,
      "workflow.step.path": open.path,
      "workflow.step.type": step.type,
      "workflow.step.action": step.type === "action" ? step.action : undefined,
      "workflow.step.attempt": open.attempt,
    },
  });
  if (span === undefined) return work(facts);
  return work({ ...facts, traceparent: span.traceparent }).then(
    (outcome) => {
      span.end(outcome.kind === "failed" ? outcome.error.code : undefined);
      return outcome;
    },
    (thrown: unknown) => {
      endThrown(span, thrown, execution.signal.aborted);
      throw thrown;
    },
  );
}

/** An attempt that waits or was stopped has not failed. A span around it says why it was stopped. */
function endThrown(span: Span, thrown: unknown, isStopped: boolean): void {
  if (thrown instanceof Parked) {
    span.set({ "workflow.step.waits": true });
    span.end();
  } else if (isStopped) {
    span.set({ "workflow.step.stopped": true });
    span.end();
  } else span.end(codeOf(thrown));
}

function codeOf(thrown: unknown): string {
  if (thrown instanceof StepError) return thrown.code;
  if (thrown instanceof RunFailed) return thrown.failure.code;
  return thrown instanceof Error ? thrown.name : "UNKNOWN";
}
