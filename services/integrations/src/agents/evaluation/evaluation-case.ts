import type { JsonObject } from "@workflow/json";
import type { AgentFailure } from "../agent-answer.ts";
import type { AgentUsage } from "../../domain/agent.ts";

/** The expected output. */
export type Expectation =
  | { readonly kind: "equals"; readonly value: unknown }
  | { readonly kind: "schema"; readonly schema: JsonObject }
  /** JSONata over `{input, output}` that must give true. */
  | { readonly kind: "expression"; readonly expression: string };

/** One question with what is expected of its answer. */
export interface EvaluationCase {
  readonly name: string | undefined;
  readonly input: Readonly<Record<string, unknown>>;
  /** The same as the text that was sent. */
  readonly inputJson: string;
  readonly userMessage: string | null;
  readonly expectation: Expectation;
}

/** The result of a case. It has passed when there is no reason against it. */
export interface CaseResult {
  /** The reason why it has not passed; null when it has. */
  readonly reason: string | null;
  /** JSON; null without an output. */
  readonly outputJson: string | null;
  /** Null without an answer, as in the record of an execution. */
  readonly schemaValid: boolean | null;
  readonly usage: AgentUsage;
  readonly durationMs: number;
  /** The reason why there is no output; null when there is one. */
  readonly error: AgentFailure | null;
}
