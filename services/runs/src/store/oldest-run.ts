/** Greater than every id. */
const NO_RUN = "run_~";

/**
 * The run among these that was accepted first, by its id. A statement that is told it leaves out the
 * partitions of older runs before it begins; of the ids in an array it learns too late (ADR 31).
 */
export function oldestRun(runIds: readonly string[]): string {
  return runIds.reduce((oldest, runId) => (runId < oldest ? runId : oldest), NO_RUN);
}
