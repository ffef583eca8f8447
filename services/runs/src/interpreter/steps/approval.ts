import { evaluate } from "@workflow/definition";
import type { CompiledApprovalStep } from "@workflow/definition";
import type { ApprovalQuestion, ApprovalState } from "../../domain/approval.ts";
import { StepError } from "../../domain/step-error.ts";
import type { OpenStep } from "../../domain/step-records.ts";
import { storableJson } from "../../domain/storable-json.ts";
import { Parked } from "../control-flow-signals.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { completionOf } from "../step-output.ts";

/** The output of the step (D17). */
interface Decision {
  decision: "approved" | "rejected";
  by: string | null;
  comment: string | null;
  data: unknown;
}

/** Asks people and waits for their decision (D29). */
export async function executeApproval(
  execution: Execution,
  step: CompiledApprovalStep,
  open: OpenStep,
  { showInput }: Attempt,
): Promise<StepOutcome> {
  const { clock, effects, journal, fibers, signal } = execution;
  const resolved = evaluate(step.message, execution.scope);
  // The items of a loop may hold a secret that no template here names.
  const clean = execution.scrubber?.json(resolved.masked) ?? resolved.masked;
  const message = typeof clean === "string" ? clean : storableJson(clean);
  showInput(storableJson({ message, onTimeout: step.onTimeout }));
  const timeoutAt =
    step.decisionTimeoutMs === undefined
      ? null
      : (open.dueAt ?? new Date(open.startedAt.getTime() + step.decisionTimeoutMs));
  let wakes = fibers.wakes;
  let state = await askOnce(execution, open, {
    stepId: step.id,
    path: open.path,
    attempt: `${execution.attemptTag}:${open.attempt}`,
    message,
    approvers: step.approvers === undefined ? null : JSON.stringify(step.approvers),
    form: step.form === undefined ? null : JSON.stringify(step.form),
    timeoutAt,
  });
  while (state.status === "waiting") {
    if (timeoutAt !== null && timeoutAt.getTime() <= clock.now()) {
      journal.stage(effects.approvals.expire(state.id));
      await journal.checkpoint();
      state = await effects.approvals.get(state.id);
      break;
    }
    try {
      await fibers.wait({ kind: "approval", dueAt: timeoutAt }, signal, wakes);
    } catch (thrown) {
      if (!(thrown instanceof Parked) && !execution.stop.aborted) {
        journal.stage(effects.approvals.cancel(state.id));
      }
      throw thrown;
    }
    wakes = fibers.wakes;
    state = await effects.approvals.get(state.id);
  }
  return conclude(execution, step, state);
}

/** Asks unless an earlier execution has. Asking is a checkpoint of the run (D31). */
async function askOnce(
  { effects, facts, journal }: Execution,
  open: OpenStep,
  question: ApprovalQuestion,
): Promise<ApprovalState> {
  const known = journal.isPersisted(open) ? await effects.approvals.find(facts.id, question) : null;
  if (known !== null) return known;
  // Everything before is written before anybody is asked.
  journal.persistWait(open, { dueAt: question.timeoutAt });
  journal.announceCheckpoint(question.stepId, "waiting_approval");
  journal.stage(effects.approvals.ask(facts, question));
  await journal.checkpoint();
  const asked = await effects.approvals.find(facts.id, question);
  if (asked === null) throw new Error("an approval that was asked for is not there");
  return asked;
}

function conclude(
  execution: Execution,
  step: CompiledApprovalStep,
  state: ApprovalState,
): StepOutcome {
  const decision = decisionOf(step, state);
  if (decision === null) {
    const message = `Nobody decided within ${step.decisionTimeoutMs} ms.`;
    throw new StepError("APPROVAL_TIMEOUT", message, {
      retryable: false,
      details: { approvalId: state.id },
    });
  }
  if (decision.decision === "rejected") {
    const words = state.comment === null ? "." : `: ${state.comment}`;
    throw new StepError("APPROVAL_REJECTED", `The approval was rejected${words}`, {
      retryable: false,
      details: { approvalId: state.id, by: decision.by },
      output: decision,
    });
  }
  return completionOf(execution, decision, true);
}

/** The step's output by the approval's status; null when it failed since nobody decided. */
function decisionOf(
  { onTimeout }: CompiledApprovalStep,
  { status, decidedBy: by, comment, data }: ApprovalState,
): Decision | null {
  const given = { by, comment, data: data === null ? null : (JSON.parse(data) as unknown) };
  switch (status) {
    case "approved":
    case "rejected":
      return { decision: status, ...given };
    case "timed_out":
      if (onTimeout === "fail") return null;
      return { decision: onTimeout === "approve" ? "approved" : "rejected", ...given };
    case "waiting":
    case "cancelled":
      // An execution that lost its lease cancelled the approval; this one is about to learn of it.
      throw new Error(`an approval is ${status} though its step waits for it`);
    default:
      return status satisfies never;
  }
}
