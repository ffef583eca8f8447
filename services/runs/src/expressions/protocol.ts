/** What the service asks an evaluator to evaluate. */
export interface ExpressionRequest {
  id: number;
  /** JSONata source. */
  expression: string;
  /** The expression's input document as JSON text. */
  input: string;
  /** Most characters that the result's JSON text may have. */
  outputCharsMax: number;
}

/** What an evaluator answers; `output` is JSON text. */
export type ExpressionResponse =
  | { id: number; ok: true; output: string }
  | { id: number; ok: false; code: string; message: string };
