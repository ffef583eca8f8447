import { AgentExecutionStatus } from "@workflow/proto/integrations/v1/agent_executions";
import type {
  AgentError,
  AgentExecution,
  AgentUsage,
} from "@workflow/proto/integrations/v1/agent_executions";
import { rawOrNull } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";

/** The time limit of a question, with some time for the answer: the service gives up first. */
export const QUESTION_TIMEOUT_MS = 310_000;
/** The size of a question (D4, as for runs). */
export const QUESTION_BYTES_MAX = 2 * 1024 * 1024;

/** The statuses of an execution by their names in the API. */
export const EXECUTION_STATUSES = {
  running: AgentExecutionStatus.RUNNING,
  completed: AgentExecutionStatus.COMPLETED,
  failed: AgentExecutionStatus.FAILED,
  cancelled: AgentExecutionStatus.CANCELLED,
} as const;

const STATUS_NAMES = new Map<AgentExecutionStatus, string>(
  Object.entries(EXECUTION_STATUSES).map(([name, status]) => [status, name]),
);

/** An execution in a list, without its large documents. */
export function listedExecutionJson(execution: AgentExecution) {
  const { error } = execution;
  return {
    id: execution.id,
    agentId: execution.agentId,
    agentVersion: execution.agentVersion,
    status: STATUS_NAMES.get(execution.status) ?? "unknown",
    provider: execution.provider,
    model: execution.model,
    usage: usageJson(execution.usage),
    durationMs: execution.durationMs ?? null,
    finishReason: execution.finishReason ?? null,
    schemaValid: execution.schemaValid ?? null,
    repairAttempts: execution.repairAttempts,
    warnings: execution.warnings,
    workflowRunId: execution.workflowRunId ?? null,
    error: error === undefined ? null : { code: error.code, message: error.message },
    createdAt: execution.createdAt,
  };
}

/** A whole execution. */
export function executionJson(execution: AgentExecution): { readonly [field: string]: Writable } {
  const { id, agentId, agentVersion, status, ...rest } = listedExecutionJson(execution);
  return {
    id,
    agentId,
    agentVersion,
    status,
    input: rawOrNull(execution.inputJson),
    userMessage: execution.userMessage ?? null,
    output: rawOrNull(execution.outputJson),
    rawOutput: execution.rawOutput ?? null,
    ...rest,
    error: agentErrorJson(execution.error),
  };
}

/** The tokens of all attempts. */
export function usageJson(usage: AgentUsage | undefined): { readonly [field: string]: Writable } {
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0 } = usage ?? {};
  return { inputTokens, outputTokens, totalTokens };
}

/** The reason why there is no output; null when there is one. */
export function agentErrorJson(error: AgentError | undefined): Writable {
  if (error === undefined) return null;
  const { code, message, detailsJson } = error;
  return { code, message, details: rawOrNull(detailsJson) };
}
