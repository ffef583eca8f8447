import { AppError } from "@workflow/errors";
import type { AgentFailure } from "../agent-answer.ts";
import { ModelCallError } from "../models/model-call-error.ts";

/** The process died or stopped before the provider answered, so the answer is unknown. */
export const INTERRUPTED: AgentFailure = {
  code: "AGENT_INTERRUPTED",
  message: "The service ended while the agent was asked; nobody knows the answer.",
  details: {},
};

/** The caller cancelled the call. */
export const CANCELLED: AgentFailure = {
  code: "AGENT_CANCELLED",
  message: "The caller gave up, or its run was cancelled.",
  details: {},
};

/** An internal error; the log has the details. */
export const FAULT: AgentFailure = {
  code: "AGENT_FAILED",
  message: "An internal error occurred.",
  details: {},
};

/** A provider gave no answer, and a record says so. */
export class RecordedCallError extends ModelCallError {
  /** The id of the failed execution. */
  readonly executionId: string;

  constructor({ message, failure, cause }: ModelCallError, executionId: string) {
    super(message, failure, { cause });
    this.executionId = executionId;
  }
}

/** The reason why a provider gave no answer, for records and cases. Our own faults are not explained. */
export function toAgentFailure(error: unknown): AgentFailure {
  if (!(error instanceof ModelCallError)) return FAULT;
  const { provider, code, status, retryAfterMs } = error.failure;
  const details = {
    provider,
    ...(status === null ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.ceil(retryAfterMs) }),
  };
  return { code, message: error.message, details };
}

/** Statuses by which a provider says that the question is wrong, for example longer than the model allows. */
const QUESTION_STATUSES: readonly (number | null)[] = [400, 413, 422];

/**
 * The error for callers other than steps: NOT_CONFIGURED; BAD_REQUEST when the provider refused the
 * question itself, as it would again; otherwise UPSTREAM_ERROR. The latter two have `details.code`.
 */
export function toCallError(error: ModelCallError): AppError {
  const { message, failure } = error;
  if (failure.code === "NOT_CONFIGURED") return new AppError("NOT_CONFIGURED", message);
  const { provider, code, status, retryAfterMs } = failure;
  const isQuestions = code === "AGENT_REFUSED" && QUESTION_STATUSES.includes(status);
  return new AppError(isQuestions ? "BAD_REQUEST" : "UPSTREAM_ERROR", message, {
    details: {
      provider,
      ...(status === null ? {} : { status }),
      code,
      ...(error instanceof RecordedCallError ? { executionId: error.executionId } : {}),
    },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: error,
  });
}
