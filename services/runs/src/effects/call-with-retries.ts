import { setTimeout as sleep } from "node:timers/promises";
import { isAppError } from "@workflow/errors";

/**
 * Repeats a call while the service cannot be reached: a service that is being replaced is no reason for a
 * step to fail. It is only for calls that may be repeated.
 *
 * @param pausesMs the pause before each further try
 * @throws the signal's reason when it was aborted, else the error of the last try
 */
export async function callWithRetries<Answer>(
  send: () => Promise<Answer>,
  pausesMs: readonly number[],
  signal: AbortSignal,
): Promise<Answer> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      // oxlint-disable-next-line typescript/only-throw-error -- the reason is the caller's own
      if (signal.aborted) throw signal.reason;
      const pauseMs = pausesMs[attempt];
      if (pauseMs === undefined || !isAppError(error) || error.reason !== "UNAVAILABLE") {
        throw error;
      }
      await pause(pauseMs, signal);
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    // oxlint-disable-next-line typescript/only-throw-error -- the reason is the caller's own
    throw signal.reason;
  }
}
