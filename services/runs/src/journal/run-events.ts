import { newId } from "@workflow/db";
import type { NewEvent } from "@workflow/events";
import type { ExecutionError } from "../domain/execution-error.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import type { RunStatus } from "../domain/run-status.ts";
import { storableText } from "../domain/storable-json.ts";

/** The run lifecycle events of the contract. */
export type RunEventType =
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
> & { startedAt: Date | null };

/** What an event says beyond the run's facts. */
export interface RunEventExtra {
  status: RunStatus;
  completedAt?: Date;
  error?: ExecutionError;
  /** The step that reached a checkpoint. */
  stepId?: string;
}

/**
 * An event for the outbox. It carries no input and no output: those may be larger than a message
 * may be, and a consumer that wants them asks `GetRun`, whose answer does not change any more once
 * the run has ended.
 */
export function runEvent(type: RunEventType, facts: EventFacts, extra: RunEventExtra): NewEvent {
  const { completedAt, error, stepId } = extra;
  return {
    id: newId("evt_"),
    type,
    companyId: facts.companyId,
    ...(facts.requestId === null ? {} : { requestId: facts.requestId }),
    data: {
      workflowId: facts.workflowId,
      workflowName: facts.workflowName,
      workflowVersion: facts.workflowVersion,
      runId: facts.id,
      status: extra.status,
      triggerType: facts.triggerType,
      createdAt: facts.createdAt.toISOString(),
      startedAt: facts.startedAt?.toISOString() ?? null,
      completedAt: completedAt?.toISOString() ?? null,
      durationMs:
        completedAt === undefined || facts.startedAt === null
          ? null
          : completedAt.getTime() - facts.startedAt.getTime(),
      ...(error === undefined
        ? {}
        : {
            error: {
              code: error.code,
              message: storableText(error.message),
              stepId:
                typeof error.details?.["stepId"] === "string" ? error.details["stepId"] : null,
            },
          }),
      ...(stepId === undefined ? {} : { stepId }),
    },
  };
}
