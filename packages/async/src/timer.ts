/** The longest timer of Node, 24.8 days; a longer one fires at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Runs an action once when no time is left, even months ahead, and by any clock. The clock is read
 * again after each timer, because timers fire a moment early and clocks are adjusted.
 *
 * @param leftMs milliseconds until the action; Infinity: never
 * @returns cancels the action; may be called at any time
 */
export function startTimer(leftMs: () => number, action: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const arm = (ms: number): void => {
    if (ms !== Infinity) timer = setTimeout(onEnd, Math.min(Math.max(ms, 0), TIMER_MS_MAX));
  };
  const onEnd = (): void => {
    const ms = leftMs();
    if (ms <= 0) action();
    else arm(ms);
  };
  // Never at once, so that the caller has the cancelling function before the action runs.
  arm(leftMs());
  return () => clearTimeout(timer);
}
