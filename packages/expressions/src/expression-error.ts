/** The reason why an expression gave no result. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
  readonly code: ExpressionErrorCode;

  constructor(code: ExpressionErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  /** Whether another try may succeed: only when the expression was not at fault. */
  get retryable(): boolean {
    return this.code === "EXPRESSION_QUEUE_FULL";
  }
}

/** The codes of failed expressions; step failures have them. */
export type ExpressionErrorCode =
  | "ABORTED"
  | "EXPRESSION_FAILED"
  | "EXPRESSION_MEMORY"
  /** Too many expressions of the company already wait. */
  | "EXPRESSION_QUEUE_FULL"
  | "EXPRESSION_TIMEOUT"
  | "OUTPUT_TOO_LARGE";
