import type { AppError } from "@workflow/errors";

/** `error` of a failed response (and `data.error` where the contract repeats it). */
export interface ErrorBody {
  code: string;
  message: string;
  details?: unknown;
  requestId: string;
}

const INTERNAL_MESSAGE = "An internal error occurred.";

/**
 * The error that a caller sees: field problems or the contract's own details; for an internal error
 * only a fixed text.
 */
export function toErrorBody(error: AppError, requestId: string): ErrorBody {
  if (error.reason === "INTERNAL_ERROR") {
    return { code: error.reason, message: INTERNAL_MESSAGE, requestId };
  }
  const details = error.violations.length > 0 ? error.violations : error.details;
  return {
    code: error.reason,
    message: error.message,
    ...(details === undefined ? {} : { details }),
    requestId,
  };
}
