import { availableParallelism } from "node:os";

const THREADS_MAX = 4;

/**
 * How many threads hold columns when so many are asked for. 0 is one for each core but one, which is left to
 * the service's own thread: it makes the statements and answers callers.
 */
export function threadCount(wanted = 0): number {
  if (wanted > 0) return wanted;
  return Math.min(THREADS_MAX, Math.max(1, availableParallelism() - 1));
}
