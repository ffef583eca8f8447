import { isAppError, isFailureCode } from "@workflow/errors";
import { StepFailureError } from "../../actions/action-failure.ts";
import type { ExecutionRow } from "../../store/agent-executions.ts";
import { AgentInputError } from "../agent-input-error.ts";
import { ModelCallError } from "../models/model-call-error.ts";
import { toAgentFailure } from "./agent-error.ts";

/** The agent does not exist, or belongs to another company. */
export function noSuchAgent(agentId: string): StepFailureError {
  return new StepFailureError({
    code: "AGENT_NOT_FOUND",
    message: "Agent not found",
    details: { agentId },
  });
}

/** The agent is deprecated. */
export function deprecatedAgent(agentId: string): StepFailureError {
  return new StepFailureError({
    code: "AGENT_DEPRECATED",
    message: "The agent is deprecated.",
    details: { agentId },
  });
}

/** The step's failure when an agent was not asked or gave no answer. Other errors are returned unchanged. */
export function toStepFailure(error: unknown): unknown {
  if (error instanceof AgentInputError) {
    const { message, violations } = error;
    return new StepFailureError({
      code: "INVALID_INPUT",
      message,
      details: { problems: violations },
    });
  }
  if (error instanceof ModelCallError) {
    const { code, retryable, retryAfterMs, status } = error.failure;
    const { message, details } = toAgentFailure(error);
    return new StepFailureError({
      code,
      message,
      details,
      retryable,
      answered: status !== null,
      retryAfterMs,
    });
  }
  if (!isAppError(error) || error.reason !== "RATE_LIMITED") return error;
  const { message, retryAfterMs } = error;
  const details = Object.fromEntries(Object.entries(Object(error.details)));
  // No retry policy waits for another day (D63). Tokens that concurrent calls hold are free again soon.
  const isUsedUp = "resetsAt" in details;
  return new StepFailureError({
    code: "AGENT_QUOTA",
    message,
    details,
    ...(isUsedUp ? {} : { retryable: true, retryAfterMs }),
  });
}

/**
 * The failure of a step whose agent's answer can't be used. The step is not retried: the model was told
 * its problems twice already, and was paid each time.
 */
export function unusableAnswer({ id, error }: ExecutionRow): StepFailureError {
  const { code, message, details } = error ?? {
    code: "AGENT_OUTPUT_INVALID",
    message: "The agent's answer can't be used.",
    details: {},
  };
  return new StepFailureError({
    // Another version of this service, with other codes, may have written the record.
    code: isFailureCode(code) ? code : "AGENT_OUTPUT_INVALID",
    message,
    details: { ...details, executionId: id },
    answered: true,
  });
}
