import { databaseErrorToAppError } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import type { StartRunFailure } from "@workflow/proto/runs/v1/starts";
import type { RpcContext } from "@workflow/rpc";

/** Why one of several things in a call was not done; a fault of ours is logged, as it is nowhere else. */
export function toFailure(thrown: unknown, { log }: RpcContext): StartRunFailure {
  const error: AppError = isAppError(thrown) ? thrown : databaseErrorToAppError(thrown);
  if (error.reason === "INTERNAL_ERROR") log.error({ err: thrown }, "one part of a call failed");
  return {
    reason: error.reason,
    message: error.message,
    violations: error.violations.map(({ path, message }) => ({ path, message })),
    detailsJson: error.details === undefined ? "" : JSON.stringify(error.details),
    retryAfterMs: error.retryAfterMs ?? 0,
  };
}
