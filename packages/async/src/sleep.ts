import { setTimeout as delay } from "node:timers/promises";

/** Waits so many milliseconds, or until the signal is aborted; never rejects. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  // The caller checks the signal where an abort changes what comes next.
  await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {});
}
