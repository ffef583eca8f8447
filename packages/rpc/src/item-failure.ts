import { AppError, isReason } from "@workflow/errors";
import type { Violation } from "@workflow/errors";

/**
 * Why one of several requests of a call was refused. The messages of all services have these fields, under
 * numbers of their own (ADR 67).
 */
export interface ItemFailure {
  reason: string;
  message: string;
  violations: Violation[];
  /** Further facts as JSON; empty when there are none. */
  detailsJson: string;
  /** How long to wait before a retry, in milliseconds; 0 when that says nothing. */
  retryAfterMs: number;
}

/** Describes one refused request of a call; the other requests are not concerned. */
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
 * The error that a service told with `toItemFailure`.
 *
 * @returns INTERNAL_ERROR where the answer has none, or one of an unknown reason
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
