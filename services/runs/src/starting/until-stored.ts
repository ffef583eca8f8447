import { AppError } from "@workflow/errors";

/** A start is given up after it was overtaken so often by changes of the deployment. */
const OVERTAKEN_MAX = 5;

/**
 * The deployment was replaced or withdrawn since it was looked up. The error rolls the transaction back.
 */
export class OvertakenError extends Error {
  override readonly name = "OvertakenError";
}

/**
 * Tries to start something until no change of the deployment comes in between.
 *
 * @param attempt returns null, or throws `OvertakenError`, when it was overtaken
 * @throws AppError UNAVAILABLE when the workflow is changed all the time
 */
export async function untilStored<T>(attempt: () => Promise<T | null>): Promise<T> {
  for (let tries = 0; tries < OVERTAKEN_MAX; tries += 1) {
    try {
      const started = await attempt();
      if (started !== null) return started;
    } catch (error) {
      if (!(error instanceof OvertakenError)) throw error;
    }
  }
  throw new AppError("UNAVAILABLE", "The workflow is being changed; try again.", {
    retryAfterMs: 1_000,
  });
}
