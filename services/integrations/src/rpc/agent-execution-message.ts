import { AgentExecutionStatus } from "@workflow/proto/integrations/v1/agent_executions";
import type { AgentError, AgentExecution } from "@workflow/proto/integrations/v1/agent_executions";
import type { AgentFailure } from "../agents/agent-answer.ts";
import type {
  ExecutionRow,
  ExecutionStatus,
  ListedExecutionRow,
} from "../store/agent-executions.ts";

/** The statuses by their names in messages. */
const MESSAGE_STATUS = {
  running: AgentExecutionStatus.RUNNING,
  completed: AgentExecutionStatus.COMPLETED,
  failed: AgentExecutionStatus.FAILED,
  cancelled: AgentExecutionStatus.CANCELLED,
} as const satisfies Record<ExecutionStatus, AgentExecutionStatus>;

/** The message for an execution as lists show it. */
export function toListedMessage(row: ListedExecutionRow): AgentExecution {
  const { inputTokens, outputTokens, totalTokens } = row;
  return {
    id: row.id,
    agentId: row.agentId,
    agentVersion: row.agentVersion,
    status: MESSAGE_STATUS[row.status],
    provider: row.provider,
    model: row.model,
    usage: { inputTokens, outputTokens, totalTokens },
    durationMs: row.durationMs ?? undefined,
    finishReason: row.finishReason ?? undefined,
    schemaValid: row.schemaValid ?? undefined,
    repairAttempts: row.repairAttempts,
    warnings: row.warnings,
    workflowRunId: row.workflowRunId ?? undefined,
    error: row.error === null ? undefined : toErrorMessage(row.error),
    createdAt: row.createdAt,
  };
}

/** The message for a whole execution. */
export function toExecutionMessage(row: ExecutionRow): AgentExecution {
  return {
    ...toListedMessage(row),
    userMessage: row.userMessage ?? undefined,
    inputJson: row.inputJson,
    outputJson: row.outputJson ?? undefined,
    rawOutput: row.rawOutput ?? undefined,
  };
}

/** The message for the reason why there is no output. */
export function toErrorMessage({
  code,
  message,
  details,
}: Omit<AgentFailure, "code"> & { readonly code: string }): AgentError {
  return { code, message, detailsJson: JSON.stringify(details) };
}
