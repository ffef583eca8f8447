/** Until a failed attempt is repeated: ±10 %, so that what failed together does not come together (D46). */
const JITTER = 0.1;

/**
 * How long to wait after a failed attempt, in milliseconds.
 *
 * @param attempt which one failed, from 1
 * @param retryAfterMs what the receiver asked for; counts when it is longer
 */
export function retryDelayMs(
  delaysMs: readonly number[],
  attempt: number,
  retryAfterMs: number | null,
): number {
  const delayMs = delaysMs[attempt - 1] ?? delaysMs.at(-1) ?? 0;
  const spread = 1 + JITTER * (2 * Math.random() - 1);
  return Math.max(Math.round(delayMs * spread), retryAfterMs ?? 0);
}
