/** A gateway that is not heard for longer is given up: whoever stood still for so long has to be told anew. */
const STILL_MS = 1_000;
const TICK_MS = 50;
const ROUNDS_MAX = 4;

/**
 * Plays a round whose outcome is certain only while the machine lets everybody go on. A failure counts when this process
 * did not stand still meanwhile and nobody said that he was alone; else there is another round, up to four in all.
 *
 * @param isDisturbed whether somebody has said so since the round began
 */
export async function whenUndisturbed(
  round: () => Promise<void>,
  isDisturbed: () => boolean,
): Promise<void> {
  for (let left = ROUNDS_MAX - 1; ; left -= 1) {
    let [tickedAt, longestMs] = [performance.now(), 0];
    const tick = (): void => {
      const now = performance.now();
      longestMs = Math.max(longestMs, now - tickedAt);
      tickedAt = now;
    };
    const timer = setInterval(tick, TICK_MS);
    try {
      await round();
      return;
    } catch (error) {
      tick();
      if (left === 0 || (longestMs < STILL_MS && !isDisturbed())) throw error;
    } finally {
      clearInterval(timer);
    }
  }
}
