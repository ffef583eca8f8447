/** The command line is wrong; nothing was done. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
