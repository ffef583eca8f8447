import { setTimeout as delay } from "node:timers/promises";

/** Waits for so many milliseconds, or until the signal is aborted. Never rejects. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  // A caller for whom an abort matters checks the signal itself.
  await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {});
}
