import { AppError, isReason } from "@workflow/errors";
import type { Violation } from "@workflow/errors";

/**
 * The refusal of one of several requests in a call. The messages of all services have these fields, with
 * their own field numbers (ADR 67).
 */
export interface ItemFailure {
  reason: string;
  message: string;
  violations: Violation[];
  /** Further facts as JSON; empty when there are none. */
  detailsJson: string;
  /** The pause before a retry, in milliseconds; 0 when the error names none. */
  retryAfterMs: number;
}

/** The fields of a refused request. Other requests of the call are not affected. */
export function toItemFailure(error: AppError): ItemFailure {
  const { reason, message, violations, details, retryAfterMs = 0 } = error;
  return {
    reason,
    message,
    violations: [...violations],
    detailsJson: details === undefined ? "" : JSON.stringify(details),
    retryAfterMs,
  };
}

/**
 * The error behind fields that a service made with `toItemFailure`.
 *
 * @returns INTERNAL_ERROR for an answer without a reason, or with an unknown one
 */
export function fromItemFailure(failure: ItemFailure | undefined): AppError {
  if (failure === undefined || !isReason(failure.reason)) {
    return new AppError("INTERNAL_ERROR", "An internal error occurred.", {
      internal: `no known result within a batch: ${failure?.reason ?? "none"}`,
    });
  }
  const { detailsJson, retryAfterMs } = failure;
  return new AppError(failure.reason, failure.message, {
    violations: failure.violations,
    ...(detailsJson === "" ? {} : { details: JSON.parse(detailsJson) }),
    ...(retryAfterMs === 0 ? {} : { retryAfterMs }),
  });
}
