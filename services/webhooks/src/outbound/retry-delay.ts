/**
 * The share by which a retry's time varies, so that deliveries which failed together are retried apart
 * (D46).
 */
const JITTER = 0.1;

/**
 * The pause after a failed attempt, in milliseconds.
 *
 * @param attempt the number of the failed attempt, from 1
 * @param retryAfterMs the pause that the receiver asked for; the longer pause counts
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
