import type { CompiledStep } from "@workflow/definition";
import { evaluateCondition, retryDelayMs } from "@workflow/definition";
import type { ExecutionError } from "../domain/execution-error.ts";
import { RunLimitError } from "../domain/run-limits.ts";
import { StepError } from "../domain/step-error.ts";
import type { OpenStep } from "../domain/step-records.ts";
import type { StepOutput } from "../journal/step-outputs.ts";
import { DeadlineExceeded, Parked, RunFailed } from "./control-flow-signals.ts";
import { UnknownOutcomeError } from "../domain/unknown-outcome-error.ts";
import { toErrorRecord } from "./error-record.ts";
import { executeStep } from "./execute-step.ts";
import type { Execution, RunNested, StepOutcome, TakeRoom } from "./execution.ts";
import {
  failRun,
  recordFailedInside,
  recordFailure,
  recordGivenUp,
  recordSkip,
  recordSuccess,
} from "./record-step.ts";
import type { ShownInput, StepEnd } from "./record-step.ts";
import { replayStep } from "./replay-step.ts";
import { withRoom } from "./with-room.ts";
import { outputsReadBy } from "./outputs-read.ts";
import { inStepSpan } from "./step-span.ts";
import { isContainer, timeLimitMs, waitsByItself } from "./step-traits.ts";
import { toStepError } from "./to-step-error.ts";

/** No receiver can delay a retry for longer. A date far enough away could not even be stored. */
const RETRY_AFTER_MS_MAX = 24 * 60 * 60_000;

/**
 * Runs one step to its end, retries included, and records it; or takes over its recorded result from an
 * earlier execution.
 */
export async function runStep(
  execution: Execution,
  step: CompiledStep,
  path: string,
  runNested: RunNested,
): Promise<StepEnd> {
  const { journal, fibers, signal, stop } = execution;
  const past = journal.findPast(path);
  if (past !== undefined) return replayStep(execution, step, past);
  const begunBefore = journal.isBegun(path);
  const open = journal.begin(path, isContainer(step));
  try {
    for (let first = !begunBefore; ; first = false) {
      if (isPausedForRetry(execution, step, open))
        await fibers.wait({ kind: "retry", dueAt: open.dueAt }, signal);
      const end = await attemptStep(execution, step, open, { runNested, first });
      if (end !== "again") return end;
    }
  } catch (thrown) {
    if (thrown instanceof Parked || thrown instanceof RunFailed) throw thrown;
    if (stop.aborted || !signal.aborted) throw thrown;
    recordGivenUp(execution, step, open);
    throw signal.reason;
  }
}

/** The due time of a step that waits by itself is its own affair. */
function isPausedForRetry({ clock }: Execution, step: CompiledStep, { dueAt }: OpenStep): boolean {
  return !waitsByItself(step) && dueAt !== null && dueAt.getTime() > clock.now();
}

/** How an attempt of a step is made. */
interface PlannedAttempt {
  runNested: RunNested;
  /** Whether the step was never tried before. */
  first: boolean;
}

async function attemptStep(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  attempt: PlannedAttempt,
): Promise<StepEnd | "again"> {
  try {
    return await tryStep(execution, step, open, attempt);
  } catch (thrown) {
    if (thrown instanceof RunLimitError) throw await failRun(execution, step, open, thrown);
    if (thrown instanceof RunFailed) recordFailedInside(execution, step, open, thrown.failure);
    throw thrown;
  }
}

/** Makes an attempt. The outputs that it reads stay in memory meanwhile. */
async function tryStep(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  { runNested, first }: PlannedAttempt,
): Promise<StepEnd | "again"> {
  const startedAt = new Date(execution.clock.now());
  const shown: ShownInput = { text: null };
  let pinned: readonly StepOutput[] = [];
  const isLeaf = !isContainer(step);
  if (isLeaf) execution.memory.stepBegins();
  try {
    execution.journal.budget.assertRoom();
    const reads = outputsReadBy(execution, step);
    const loading = execution.outputs.pin(reads);
    if (loading !== undefined) await loading;
    pinned = reads;
    // A step's condition is evaluated once, before its first attempt.
    if (first && isLeftOut(execution, step)) return recordSkip(execution, step, open);
    const outcome = await withRoom(execution, step, (takeRoom) =>
      executeAttempt(execution, step, open, { runNested, shown, takeRoom }),
    );
    if (outcome.kind === "failed") {
      // The nested step has failed for good; only the container's own policy begins it anew.
      const error = new StepError({ told: outcome.error.code }, outcome.error.message);
      if (mayRetry(step, open, error)) {
        return scheduleRetry(execution, step, open, { error, record: outcome.error, startedAt });
      }
      return await recordFailure(execution, step, open, {
        error: outcome.error,
        shown,
        given: null,
      });
    }
    return await recordSuccess(execution, step, open, { outcome, shown });
  } catch (thrown) {
    if (thrown instanceof Parked || execution.signal.aborted) throw thrown;
    if (thrown instanceof RunLimitError) throw thrown;
    const error = toStepError(thrown);
    const record = await toErrorRecord(error, execution.scrubber);
    if (mayRetry(step, open, error)) {
      return scheduleRetry(execution, step, open, { error, record, startedAt });
    }
    const output = (await execution.scrubber?.jsonInTurns(error.output)) ?? error.output;
    return await recordFailure(execution, step, open, { error: record, shown, given: output });
  } finally {
    execution.outputs.unpin(pinned);
    if (isLeaf) execution.memory.stepEnds();
  }
}

/** Executes one attempt within the step's own timeout (D16). */
async function executeAttempt(
  execution: Execution,
  step: CompiledStep,
  open: OpenStep,
  { runNested, shown, takeRoom }: { runNested: RunNested; shown: ShownInput; takeRoom: TakeRoom },
): Promise<StepOutcome> {
  const { attempt, path } = open;
  const attemptTag =
    isContainer(step) && attempt > 1 ? `${execution.attemptTag}~${attempt}` : execution.attemptTag;
  const execute = (signal: AbortSignal): Promise<StepOutcome> =>
    inStepSpan(execution, step, open, (facts) =>
      executeStep({ ...execution, facts, signal, attemptTag }, step, open, {
        path,
        key: `${execution.facts.id}:${path}${execution.attemptTag}:${open.attemptGroup}`,
        showInput: (resolved) => {
          if (resolved === null) {
            shown.text = null;
            return;
          }
          shown.text =
            execution.scrubber === null ? resolved : execution.scrubber.jsonText(resolved);
          // This check comes before the step has any effect.
          execution.journal.budget.assertFits(Buffer.byteLength(shown.text));
        },
        takeRoom,
        runNested,
      }),
    );
  const limitMs = timeLimitMs(step);
  if (limitMs === undefined) return execute(execution.signal);
  open.deadlineAt ??= new Date(execution.clock.now() + limitMs);
  const makeReason = (): Error => new DeadlineExceeded(`The step took longer than ${limitMs} ms.`);
  return execution.fibers.withDeadline(
    open.deadlineAt,
    execution.signal,
    makeReason,
    async (signal) => {
      try {
        return await execute(signal);
      } catch (thrown) {
        // However the work ended, it ended because its timeout was over.
        if (thrown instanceof Parked || thrown instanceof RunFailed) throw thrown;
        if (!(signal.reason instanceof DeadlineExceeded)) throw thrown;
        // If the timeout of an enclosing step is over as well, that one counts.
        if (thrown instanceof UnknownOutcomeError && !execution.signal.aborted) throw thrown;
        throw signal.reason;
      }
    },
  );
}

function isLeftOut({ scope }: Execution, { when }: CompiledStep): boolean {
  return when !== undefined && !evaluateCondition(when, scope);
}

function mayRetry({ retry }: CompiledStep, open: OpenStep, error: StepError): boolean {
  return retry !== undefined && error.retryable && open.attempt < retry.maxAttempts;
}

/** Sets the time of the next attempt. What nested steps have done so far is discarded. */
function scheduleRetry(
  { clock, journal }: Execution,
  step: CompiledStep,
  open: OpenStep,
  failed: { error: StepError; record: ExecutionError; startedAt: Date },
): "again" {
  const { error, record, startedAt } = failed;
  if (step.retry === undefined) throw new Error("a step without a retry policy is tried again");
  const backoffMs = retryDelayMs(step.retry, open.attempt, Math.random);
  if (isContainer(step)) journal.forgetInside(open.path);
  journal.persistWait(open, {
    dueAt: new Date(
      clock.now() + Math.max(backoffMs, Math.min(error.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX)),
    ),
    // A turn was for the attempt that has failed.
    hasTurn: false,
    deadlineAt: null,
    attempt: open.attempt + 1,
    attemptGroup: open.attemptGroup + (error.answered ? 1 : 0),
    previousAttempts: [
      ...open.previousAttempts,
      { attempt: open.attempt, startedAt: startedAt.toISOString(), error: record },
    ],
  });
  return "again";
}
