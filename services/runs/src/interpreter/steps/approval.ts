import { evaluate } from "@workflow/definition";
import type { CompiledApprovalStep } from "@workflow/definition";
import type { ApprovalState } from "../../store/run-approvals.ts";
import type { OpenStep } from "../../engine/journal.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { StepError } from "../step-error.ts";
import { completionOf } from "../step-output.ts";
import { Parked } from "../unwinding.ts";

/** D17: what the step returns. */
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
  const { effects, facts, journal, strands, signal } = execution;
  const resolved = evaluate(step.message, execution.scope);
  const message =
    typeof resolved.masked === "string" ? resolved.masked : storableJson(resolved.masked);
  showInput(storableJson({ message, onTimeout: step.onTimeout }));
  const timeoutAt =
    step.decisionTimeoutMs === undefined
      ? null
      : (open.dueAt ?? new Date(open.startedAt.getTime() + step.decisionTimeoutMs));
  if (!journal.isHeld(open)) {
    journal.hold(open, { dueAt: timeoutAt });
    // What happened before is known before anybody is asked.
    await journal.checkpoint();
  }
  let wakes = strands.wakes;
  let state = await effects.approvals.ask(facts, {
    stepId: step.id,
    path: open.path,
    attempt: `${execution.attemptTag}:${open.attempt}`,
    message,
    approvers: step.approvers === undefined ? null : JSON.stringify(step.approvers),
    form: step.form === undefined ? null : JSON.stringify(step.form),
    timeoutAt,
  });
  while (state.status === "waiting") {
    if (timeoutAt !== null && timeoutAt.getTime() <= Date.now()) {
      state = await effects.approvals.expire(state.id);
      break;
    }
    try {
      await strands.wait({ kind: "approval", dueAt: timeoutAt }, signal, wakes);
    } catch (thrown) {
      if (!(thrown instanceof Parked) && !execution.stop.aborted) {
        await effects.approvals.cancel(state.id);
      }
      throw thrown;
    }
    wakes = strands.wakes;
    state = await effects.approvals.find(state.id);
  }
  return conclude(execution, step, state);
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

/** What the approval came to for the step; null when it failed for want of a decision. */
function decisionOf(
  { onTimeout }: CompiledApprovalStep,
  { status, decided_by: by, comment, data }: ApprovalState,
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
      // Given up by an execution whose lease is lost; this one is about to learn that.
      throw new Error(`an approval is ${status} though its step waits for it`);
    default:
      return status satisfies never;
  }
}
