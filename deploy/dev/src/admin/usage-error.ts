/** A fault of the command line. Nothing was done. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
