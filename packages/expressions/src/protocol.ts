import type { ParsedExpression } from "@workflow/definition";

/** A request of the service to an evaluator. */
export type EvaluatorRequest = EvaluationRequest | ParseRequest;

/** A request to evaluate an expression. */
export interface EvaluationRequest {
  id: number;
  kind: "evaluate";
  /** JSONata source. */
  expression: string;
  /** The expression's input document as JSON text. */
  input: string;
  /** The longest allowed JSON text of the result, in characters. */
  outputCharsMax: number;
}

/** A request to tell what an expression reads, without an evaluation. */
export interface ParseRequest {
  id: number;
  kind: "parse";
  /** JSONata source. */
  expression: string;
}

/** The answer of an evaluator; `output` is JSON text. */
export type EvaluatorResponse =
  | { id: number; ok: true; kind: "evaluate"; output: string }
  | { id: number; ok: true; kind: "parse"; parsed: ParsedExpression }
  | { id: number; ok: false; code: "EXPRESSION_FAILED" | "OUTPUT_TOO_LARGE"; message: string };

/** A message to an evaluator: further work, or `drop` for everything that waits in it. */
export type EvaluatorMessage = readonly EvaluatorRequest[] | "drop";

/** A message from an evaluator: it has started, it has dropped its work, or an answer. */
export type EvaluatorAnswer = EvaluatorResponse | "ready" | "dropped";
