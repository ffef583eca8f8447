import { StepError } from "./step-error.ts";

/**
 * Does a step's work with a signal that is also aborted when the step's own time is over (D16).
 *
 * @throws StepError TIMEOUT when the work ended badly because of that
 */
export async function withTimeout<T>(
  signal: AbortSignal,
  timeoutMs: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeoutMs === undefined) return work(signal);
  const controller = new AbortController();
  let timedOut = false;
  const onAbort = (): void => controller.abort();
  const timer = setTimeout(() => {
    timedOut = true;
    controller.abort();
  }, timeoutMs);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) controller.abort();
  try {
    return await work(controller.signal);
  } catch (error) {
    if (!timedOut) throw error;
    throw new StepError("TIMEOUT", `The step took longer than ${timeoutMs} ms.`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
