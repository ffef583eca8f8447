import { setTimeout as delay } from "node:timers/promises";
import { isNativeError } from "node:util/types";

export interface WaitOptions {
  /**
   * The deadline of the wait. Default 60,000, because a busy machine takes ten times as long as an idle
   * one.
   */
  timeoutMs?: number;
  /** Default 20. */
  intervalMs?: number;
  /** The awaited thing, for the error's message; the function's source by default. */
  what?: string;
}

type Falsy = false | null | 0 | "";

/**
 * Calls the function until it neither throws nor returns false, null, 0 or an empty text, and returns
 * its result. A function without a result succeeds once it does not throw, so expectations can be
 * awaited; a search should return `?? null`.
 *
 * @throws Error at the deadline, with the awaited thing and the last failure
 */
export async function waitFor<T>(
  fn: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<Exclude<T, Falsy>> {
  const { timeoutMs = 60_000, intervalMs = 20 } = options;
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const last = await attempt(fn);
    if (last.done) return last.value;
    if (Date.now() >= deadline) {
      const what = options.what ?? String(fn);
      throw new Error(`Waited ${timeoutMs} ms in vain for: ${what}\n${last.why}`, {
        cause: last.cause,
      });
    }
    await delay(intervalMs);
  }
}

type Attempt<T> = { done: true; value: T } | { done: false; why: string; cause?: unknown };

async function attempt<T>(fn: () => T | Promise<T>): Promise<Attempt<Exclude<T, Falsy>>> {
  try {
    const value = await fn();
    return isDone(value) ? { done: true, value } : { done: false, why: `Last: ${String(value)}` };
  } catch (error) {
    const text = isNativeError(error) ? error.message : String(error);
    return { done: false, why: `Last: ${text}`, cause: error };
  }
}

function isDone<T>(value: T): value is Exclude<T, Falsy> {
  return value === undefined || Boolean(value);
}
