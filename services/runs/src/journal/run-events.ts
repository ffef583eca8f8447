import { derivedId, newId } from "@workflow/db";
import { EVENT_ID_PREFIX } from "@workflow/events";
import type { NewEvent } from "@workflow/events";
import type { ExecutionError } from "../domain/execution-error.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import type { RunStatus, TerminalStatus } from "../domain/run-status.ts";
import { storableText } from "../domain/storable-json.ts";

/** The run lifecycle events of the contract. */
type RunEventType =
  | "workflow.started"
  | "workflow.completed"
  | "workflow.failed"
  | "workflow.timeout"
  | "workflow.cancelled"
  | "workflow.checkpoint";

/** The facts of a run that every event carries. */
export type EventFacts = Pick<
  RunFacts,
  | "id"
  | "companyId"
  | "workflowId"
  | "workflowName"
  | "workflowVersion"
  | "triggerType"
  | "requestId"
  | "createdAt"
> & { startedAt: Date | null; traceparent?: string | null };

/** How a run ended. */
export interface RunEnd {
  status: TerminalStatus;
  completedAt: Date;
  /** Null when the run ended well or was cancelled. */
  error: ExecutionError | null;
}

/** What an event carries beyond the run's facts. */
interface RunEventExtra {
  /** The time of an event that happens once in a run; the event's id is derived from it. */
  moment: Date | null;
  status: RunStatus;
  end?: RunEnd;
  /** The step that reached a checkpoint. */
  stepId?: string;
}

/** The event that a run has begun. The same facts make the same event. */
export function startedEvent(facts: EventFacts & { startedAt: Date }): NewEvent {
  return runEvent("workflow.started", facts, { moment: facts.startedAt, status: "running" });
}

/** The event that a run has ended. The same facts make the same event. */
export function endedEvent(facts: EventFacts, end: RunEnd): NewEvent {
  const { status, completedAt: moment } = end;
  return runEvent(`workflow.${status}`, facts, { moment, status, end });
}

/** The event that a run has reached a step (D31), with a new id each time. */
export function checkpointEvent(facts: EventFacts, status: RunStatus, stepId: string): NewEvent {
  return runEvent("workflow.checkpoint", facts, { moment: null, status, stepId });
}

/**
 * An event for the outbox. It carries no input and no output, which may be larger than a message. A
 * consumer that needs them calls `ReadRunPayloads`, whose answer no longer changes once the run has
 * ended.
 */
function runEvent(type: RunEventType, facts: EventFacts, extra: RunEventExtra): NewEvent {
  const { moment, end, stepId } = extra;
  return {
    ...(moment === null
      ? { id: newId(EVENT_ID_PREFIX) }
      : { id: derivedId(EVENT_ID_PREFIX, moment, `${type} ${facts.id}`), timestamp: moment }),
    type,
    companyId: facts.companyId,
    ...(facts.requestId === null ? {} : { requestId: facts.requestId }),
    ...(typeof facts.traceparent === "string" ? { traceparent: facts.traceparent } : {}),
    data: {
      workflowId: facts.workflowId,
      workflowName: facts.workflowName,
      workflowVersion: facts.workflowVersion,
      runId: facts.id,
      status: extra.status,
      triggerType: facts.triggerType,
      createdAt: facts.createdAt.toISOString(),
      startedAt: facts.startedAt?.toISOString() ?? null,
      completedAt: end?.completedAt.toISOString() ?? null,
      durationMs:
        end === undefined || facts.startedAt === null
          ? null
          : end.completedAt.getTime() - facts.startedAt.getTime(),
      ...(end === undefined || end.error === null ? {} : { error: toEventError(end.error) }),
      ...(stepId === undefined ? {} : { stepId }),
    },
  };
}

function toEventError({ code, message, details }: ExecutionError) {
  const stepId = details?.["stepId"];
  return {
    code,
    message: storableText(message),
    stepId: typeof stepId === "string" ? stepId : null,
  };
}
