/** An input from which no provider request can be built. The message is for the workflow's author. */
export class InvalidInputError extends Error {
  override readonly name = "InvalidInputError";
  readonly key: string;

  /** @param message follows the key: "must be …" */
  constructor(key: string, message: string) {
    super(message);
    this.key = key;
  }
}
