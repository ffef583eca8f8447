import type { FailureCode } from "@workflow/errors";

/** Why a run or a step failed, as it is stored and shown. */
export interface ExecutionError {
  code: string;
  message: string;
  details?: Record<string, unknown> | undefined;
}

/** One that is found here, and not told by a record or by another service. */
export interface FoundError extends ExecutionError {
  code: FailureCode;
}
