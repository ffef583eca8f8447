import { AppError, GRPC_CODE_BY_REASON, isAppError } from "@workflow/errors";

/**
 * INVALID_ARGUMENT, FAILED_PRECONDITION and OUT_OF_RANGE: the same request gets the same answer.
 */
const PERMANENT_CODES: ReadonlySet<number> = new Set([3, 9, 11]);

/** Whether the execution plane has judged a request, rather than failed to process it. */
export function isRefusal(error: unknown): error is AppError {
  return isAppError(error) && PERMANENT_CODES.has(GRPC_CODE_BY_REASON[error.reason]);
}

/** The error for a change that was not stored (D22). */
export function changeRefused(refusal: AppError): AppError {
  const message = "The execution plane cannot execute this definition; nothing was changed.";
  return toValidationError(message, refusal);
}

/** The error for an activation that was reverted. */
export function activationRefused(refusal: AppError): AppError {
  const message =
    "The execution plane cannot execute this definition; the workflow has its former status again.";
  return toValidationError(message, refusal);
}

/** The error for a change that is stored while the former state is still executed. */
export function versionRefused(refusal: AppError): AppError {
  const message =
    "The change is stored, but the execution plane cannot execute it; the former version goes on.";
  return toValidationError(message, refusal);
}

function toValidationError(message: string, refusal: AppError): AppError {
  const { violations } = refusal;
  return new AppError("VALIDATION_ERROR", message, { violations, cause: refusal });
}
