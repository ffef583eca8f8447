import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { countTry } from "../store/sign-in-tries.ts";
import type { TryLimit } from "../store/sign-in-tries.ts";

/**
 * Counts an attempt against limits that all gateways share.
 *
 * @throws AppError RATE_LIMITED with the time to retry after
 */
export async function countTries(database: Database, limits: readonly TryLimit[]): Promise<void> {
  for (const limit of limits) {
    const retryAfterMs = await countTry(database, limit);
    if (retryAfterMs !== null) throw limitReached(limit, retryAfterMs);
  }
}

/** The error for a limit that is used up. */
export function limitReached({ max }: TryLimit, retryAfterMs: number): AppError {
  const message = `Rate limit exceeded. Limit: ${max} requests per minute.`;
  return new AppError("RATE_LIMITED", message, { retryAfterMs });
}
