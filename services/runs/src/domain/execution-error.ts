import type { FailureCode } from "@workflow/errors";

/** Why a run or a step failed, as it is stored and shown. */
export interface ExecutionError {
  code: string;
  message: string;
  details?: Record<string, unknown> | undefined;
}

/** An error of this service's own finding, not one from a record or another service. */
export interface FoundError extends ExecutionError {
  code: FailureCode;
}
