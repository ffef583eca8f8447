import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import { StepStatus } from "@workflow/proto/runs/v1/steps";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { StepResult } from "@workflow/proto/runs/v1/steps";
import type { ExecutionError } from "@workflow/proto/common/v1/common";
import type {
  RunStatus as DomainStatus,
  TriggerType as DomainTrigger,
} from "../domain/run-status.ts";
import type { RunRow, RunSummaryRow } from "../store/read-runs.ts";
import type { StepRow } from "../store/read-steps.ts";

/** The name of each status in messages. */
export const MESSAGE_STATUS = {
  pending: RunStatus.PENDING,
  running: RunStatus.RUNNING,
  waiting_approval: RunStatus.WAITING_APPROVAL,
  suspended: RunStatus.SUSPENDED,
  completed: RunStatus.COMPLETED,
  failed: RunStatus.FAILED,
  cancelled: RunStatus.CANCELLED,
  timeout: RunStatus.TIMEOUT,
} as const satisfies Record<DomainStatus, RunStatus>;

/** The name of each trigger type in messages. */
export const MESSAGE_TRIGGER = {
  api: TriggerType.API,
  webhook: TriggerType.WEBHOOK,
  schedule: TriggerType.SCHEDULE,
  manual: TriggerType.MANUAL,
  table: TriggerType.TABLE,
} as const satisfies Record<DomainTrigger, TriggerType>;

const MESSAGE_STEP_STATUS = {
  success: StepStatus.SUCCESS,
  error: StepStatus.ERROR,
  skipped: StepStatus.SKIPPED,
} as const satisfies Record<StepRow["status"], StepStatus>;

/** A run without its documents, as lists show it. */
export function toRunSummary(row: RunSummaryRow): Run {
  const { startedAt, completedAt } = row;
  return {
    id: row.id,
    workflowId: row.workflowId,
    workflowName: row.workflowName,
    workflowVersion: row.workflowVersion,
    taskRuntimeRunId: undefined,
    status: MESSAGE_STATUS[row.status],
    triggerType: MESSAGE_TRIGGER[row.triggerType],
    inputJson: undefined,
    outputJson: undefined,
    stepResults: [],
    error: toErrorMessage(row.error),
    restartedFromRunId: row.restartedFromRunId ?? undefined,
    createdAt: row.createdAt,
    startedAt: startedAt ?? undefined,
    completedAt: completedAt ?? undefined,
    durationMs:
      startedAt === null || completedAt === null
        ? undefined
        : completedAt.getTime() - startedAt.getTime(),
  };
}

/** A run with its documents. JSON is passed from the database as text. */
export function toRunMessage(row: RunRow): Run {
  return {
    ...toRunSummary(row),
    taskRuntimeRunId: row.taskRuntimeRunId ?? undefined,
    inputJson: row.input,
    outputJson: row.output ?? undefined,
  };
}

/** The result of one step. JSON is passed from the database as text. */
export function toStepMessage(row: StepRow): StepResult {
  const truncated = !row.documentsFit || !row.notesFit;
  return {
    stepId: row.stepId,
    path: row.path,
    type: row.type,
    status: MESSAGE_STEP_STATUS[row.status],
    startedAt: row.startedAt,
    completedAt: row.completedAt,
    inputJson: row.input ?? undefined,
    outputJson: row.output ?? undefined,
    error: toErrorMessage(row.error),
    attempt: row.attempt,
    previousAttempts: (row.previousAttempts ?? []).map((attempt) => ({
      attempt: attempt.attempt,
      startedAt: new Date(attempt.startedAt),
      error: toErrorMessage(attempt.error),
    })),
    reused: row.reused,
    truncated,
    inputBytes: truncated ? row.inputBytes : undefined,
    outputBytes: truncated ? row.outputBytes : undefined,
  };
}

/** The error of a run or step. */
export function toErrorMessage(error: RunSummaryRow["error"]): ExecutionError | undefined {
  if (error === null) return undefined;
  return {
    code: error.code,
    message: error.message,
    detailsJson: error.details === undefined ? "" : JSON.stringify(error.details),
  };
}
