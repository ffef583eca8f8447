import { RunStatus, StepStatus, TriggerType } from "@workflow/proto/runs/v1/runs";
import type { Run, StepResult } from "@workflow/proto/runs/v1/runs";
import type { ExecutionError } from "@workflow/proto/common/v1/common";
import type {
  RunStatus as DomainStatus,
  TriggerType as DomainTrigger,
} from "../domain/run-status.ts";
import type { RunRow, RunSummaryRow, StepRow } from "../store/read-runs.ts";

/** How each status is called in messages. */
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

/** How each way of starting a run is called in messages. */
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
  const { started_at: startedAt, completed_at: completedAt } = row;
  return {
    id: row.id,
    workflowId: row.workflow_id,
    workflowName: row.workflow_name,
    workflowVersion: row.workflow_version,
    taskRuntimeRunId: undefined,
    status: MESSAGE_STATUS[row.status],
    triggerType: MESSAGE_TRIGGER[row.trigger_type],
    inputJson: undefined,
    outputJson: undefined,
    stepResults: [],
    error: toErrorMessage(row.error),
    restartedFromRunId: row.restarted_from_run_id ?? undefined,
    createdAt: row.created_at,
    startedAt: startedAt ?? undefined,
    completedAt: completedAt ?? undefined,
    durationMs:
      startedAt === null || completedAt === null
        ? undefined
        : completedAt.getTime() - startedAt.getTime(),
  };
}

/** A whole run; JSON goes from the database into it as text. */
export function toRunMessage(row: RunRow, steps: readonly StepRow[]): Run {
  return {
    ...toRunSummary(row),
    taskRuntimeRunId: row.task_runtime_run_id ?? undefined,
    inputJson: row.input,
    outputJson: row.output ?? undefined,
    stepResults: steps.map(toStepMessage),
  };
}

/** What one step did; JSON goes from the database into it as text. */
export function toStepMessage(row: StepRow): StepResult {
  return {
    stepId: row.step_id,
    path: row.path,
    type: row.type,
    status: MESSAGE_STEP_STATUS[row.status],
    startedAt: row.started_at,
    completedAt: row.completed_at,
    inputJson: row.input ?? undefined,
    outputJson: row.output ?? undefined,
    error: toErrorMessage(row.error),
    attempt: row.attempt,
    previousAttempts: (row.previous_attempts ?? []).map((attempt) => ({
      attempt: attempt.attempt,
      startedAt: new Date(attempt.startedAt),
      error: toErrorMessage(attempt.error),
    })),
    reused: row.reused,
  };
}

/** Why a run or a step failed. */
export function toErrorMessage(error: RunSummaryRow["error"]): ExecutionError | undefined {
  if (error === null) return undefined;
  return {
    code: error.code,
    message: error.message,
    detailsJson: error.details === undefined ? "" : JSON.stringify(error.details),
  };
}
