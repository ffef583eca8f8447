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

/** What of a run every event tells. */
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
  /** Null when it ended well, or somebody cancelled it. */
  error: ExecutionError | null;
}

/** What an event says beyond the run's facts. */
interface RunEventExtra {
  /** When it happened, for events that happen once in a run: their ids follow from it. */
  moment: Date | null;
  status: RunStatus;
  end?: RunEnd;
  /** The step that reached a checkpoint. */
  stepId?: string;
}

/** Says that a run has begun; made from the same facts it is the same event. */
export function startedEvent(facts: EventFacts & { startedAt: Date }): NewEvent {
  return runEvent("workflow.started", facts, { moment: facts.startedAt, status: "running" });
}

/** Says how a run has ended; made from the same facts it is the same event. */
export function endedEvent(facts: EventFacts, end: RunEnd): NewEvent {
  const { status, completedAt: moment } = end;
  return runEvent(`workflow.${status}`, facts, { moment, status, end });
}

/** Says that a run has got to a step (D31), each time with another id. */
export function checkpointEvent(facts: EventFacts, status: RunStatus, stepId: string): NewEvent {
  return runEvent("workflow.checkpoint", facts, { moment: null, status, stepId });
}

/**
 * An event for the outbox. It carries no input and no output: those may be larger than a message
 * may be, and a consumer that wants them asks `ReadRunPayloads`, whose answer does not change any more
 * once the run has ended.
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
