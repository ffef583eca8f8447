/** The longest time that the platforms' timers keep; they take a longer one for none at all. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Runs an action once, after so many milliseconds however many they are, and never for Infinity.
 *
 * @returns calls it off
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
