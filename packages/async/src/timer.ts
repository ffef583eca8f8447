/** The longest time that a timer of Node keeps, 24.8 days; a longer one ends at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Runs an action once, when no time is left; also months ahead, and by any clock. The clock is read again each
 * time a timer ends, since timers end a moment early and clocks are set.
 *
 * @param leftMs milliseconds until the action; Infinity: never
 * @returns calls the action off; may be called at any time
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
  // Never at once, so that the caller has what this returns before the action runs.
  arm(leftMs());
  return () => clearTimeout(timer);
}
