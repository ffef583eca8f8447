/** The longest time that the platforms' timers keep. They treat a longer one as none. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Runs an action once after any number of milliseconds, and never for Infinity.
 * @returns a function that cancels it
 */
export function startTimer(ms: number, action: () => void): () => void {
  if (ms === Infinity) return () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const start = (left: number): void => {
    timer =
      left > LONGEST_MS
        ? setTimeout(() => start(left - LONGEST_MS), LONGEST_MS)
        : setTimeout(action, left);
  };
  start(ms);
  return () => clearTimeout(timer);
}
