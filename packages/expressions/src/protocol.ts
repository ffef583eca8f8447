import type { ParsedExpression } from "@workflow/definition";

/** What the service asks an evaluator to do. */
export type EvaluatorRequest = EvaluationRequest | ParseRequest;

/** To evaluate an expression. */
export interface EvaluationRequest {
  id: number;
  kind: "evaluate";
  /** JSONata source. */
  expression: string;
  /** The expression's input document as JSON text. */
  input: string;
  /** Most characters that the result's JSON text may have. */
  outputCharsMax: number;
}

/** To say what an expression reads, without evaluating it. */
export interface ParseRequest {
  id: number;
  kind: "parse";
  /** JSONata source. */
  expression: string;
}

/** What an evaluator answers; `output` is JSON text. */
export type EvaluatorResponse =
  | { id: number; ok: true; kind: "evaluate"; output: string }
  | { id: number; ok: true; kind: "parse"; parsed: ParsedExpression }
  | { id: number; ok: false; code: "EXPRESSION_FAILED" | "OUTPUT_TOO_LARGE"; message: string };

/** To an evaluator: more to do, or that nothing of what waits in it is wanted any more. */
export type EvaluatorMessage = readonly EvaluatorRequest[] | "drop";

/** From an evaluator: that it has started, that it has dropped what it was told to, or an answer. */
export type EvaluatorAnswer = EvaluatorResponse | "ready" | "dropped";
