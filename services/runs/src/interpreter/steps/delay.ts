import { evaluate, parseIsoTime } from "@workflow/definition";
import type { CompiledDelayStep, TemplateScope } from "@workflow/definition";
import { StepError } from "../../domain/step-error.ts";
import type { OpenStep } from "../../domain/step-records.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { completionOf } from "../step-output.ts";

/** A run counts as suspended during a delay that lasts longer (D17). */
const SUSPENDED_FROM_MS = 5_000;
/** A delay that lasts longer is a checkpoint (D31). */
const CHECKPOINT_FROM_MS = 60_000;
/** A year. A longer delay is likely a mistaken unit. */
const DELAY_MS_MAX = 366 * 24 * 60 * 60 * 1000;

/** Waits for a duration or until a moment. */
export async function executeDelay(
  execution: Execution,
  step: CompiledDelayStep,
  open: OpenStep,
  { showInput }: Attempt,
): Promise<StepOutcome> {
  const { config, dueAt } = resolveDelay(step, open, execution.scope);
  showInput(storableJson(config));
  if (execution.clock.now() < dueAt.getTime()) {
    const totalMs = dueAt.getTime() - open.startedAt.getTime();
    if (open.dueAt === null) {
      execution.journal.persistWait(open, { dueAt });
      if (totalMs > CHECKPOINT_FROM_MS) {
        execution.journal.announceCheckpoint(step.id, "suspended");
      }
    }
    const kind = totalMs > SUSPENDED_FROM_MS ? "suspension" : "delay";
    await execution.fibers.wait({ kind, dueAt }, execution.signal);
  }
  return completionOf(
    execution,
    { resumedAt: new Date(execution.clock.now()).toISOString() },
    false,
  );
}

function resolveDelay(step: CompiledDelayStep, open: OpenStep, scope: TemplateScope) {
  if (step.delay.kind === "until") {
    const until = evaluate(step.delay.until, scope).value;
    const millis = typeof until === "string" ? parseIsoTime(until) : undefined;
    if (millis === undefined) throw invalid("until must be an ISO 8601 timestamp.");
    return { config: { until }, dueAt: boundedDue(open, millis) };
  }
  const durationMs = evaluate(step.delay.durationMs, scope).value;
  if (typeof durationMs !== "number" || !Number.isFinite(durationMs) || durationMs < 0) {
    throw invalid("durationMs must be a number of milliseconds, 0 or more.");
  }
  return { config: { durationMs }, dueAt: boundedDue(open, open.startedAt.getTime() + durationMs) };
}

/** The moment that was stored when the step began counts, whatever the templates say now. */
function boundedDue(open: OpenStep, millis: number): Date {
  if (open.dueAt !== null) return open.dueAt;
  if (millis - open.startedAt.getTime() > DELAY_MS_MAX) {
    throw invalid("A delay may last at most 366 days.");
  }
  return new Date(millis);
}

function invalid(message: string): StepError {
  return new StepError("INVALID_INPUT", message, { retryable: false });
}
