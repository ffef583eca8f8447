/** Why an expression gave no result. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
  readonly code: ExpressionErrorCode;

  constructor(code: ExpressionErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  /** Whether another try may do: only where it was not the expression's fault. */
  get retryable(): boolean {
    return this.code === "EXPRESSION_QUEUE_FULL";
  }
}

/** What can become of an expression; step failures carry it. */
export type ExpressionErrorCode =
  | "ABORTED"
  | "EXPRESSION_FAILED"
  | "EXPRESSION_MEMORY"
  /** Too many expressions of the company wait already. */
  | "EXPRESSION_QUEUE_FULL"
  | "EXPRESSION_TIMEOUT"
  | "OUTPUT_TOO_LARGE";
