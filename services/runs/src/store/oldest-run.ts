/** Sorts after every id. */
const NO_RUN = "run_~";

/**
 * The run among these that was accepted first, by its id. A statement with this parameter leaves out the
 * partitions of older runs before it begins; it learns the ids in an array too late (ADR 31).
 */
export function oldestRun(runIds: readonly string[]): string {
  return runIds.reduce((oldest, runId) => (runId < oldest ? runId : oldest), NO_RUN);
}
