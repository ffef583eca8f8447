/** The run's lease is lost: stop at once, write nothing. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}
