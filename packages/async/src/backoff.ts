/** The pauses of a task that fails repeatedly, in milliseconds. */
export interface BackoffLimits {
  /** The pause after the first failure. */
  firstMs: number;
  /** The longest pause. */
  maxMs: number;
}

/** Beyond so many doublings every pause has reached its limit. */
const DOUBLINGS_MAX = 40;

/**
 * The pause before the next try: it doubles with each failure up to its limit. Up to half of it is cut off at
 * random, so that tasks which failed together do not return together.
 *
 * @param failures how often the task has failed in a row, from 1; less counts as 1
 * @returns whole milliseconds
 */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffLimits): number {
  const doublings = Math.min(Math.max(failures, 1) - 1, DOUBLINGS_MAX);
  return halfRandom(Math.min(firstMs * 2 ** doublings, maxMs));
}

/** A random pause between half of `ms` and all of it, in whole milliseconds. */
export function halfRandom(ms: number): number {
  return Math.round(ms / 2 + (ms / 2) * Math.random());
}
