/** The run's lease is lost. The execution must stop at once and write nothing. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}
