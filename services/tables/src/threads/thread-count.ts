import { availableParallelism } from "node:os";

const THREADS_MAX = 4;

/**
 * The number of threads for a setting. 0 is one for each core but one, which is for the service's own thread: it
 * makes the statements and answers callers.
 */
export function threadCount(wanted = 0): number {
  if (wanted > 0) return wanted;
  return Math.min(THREADS_MAX, Math.max(1, availableParallelism() - 1));
}
