import { databaseErrorToAppError } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import { toItemFailure } from "@workflow/rpc";
import type { ItemFailure, RpcContext } from "@workflow/rpc";

/**
 * The failure of one of several items in a call. Our own faults are logged here, since nobody else does.
 */
export function toFailure(thrown: unknown, { log }: RpcContext): ItemFailure {
  const error: AppError = isAppError(thrown) ? thrown : databaseErrorToAppError(thrown);
  if (error.reason === "INTERNAL_ERROR") log.error({ err: thrown }, "one part of a call failed");
  return toItemFailure(error);
}
