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
  /** The input as the text that was sent. */
  readonly inputJson: string;
  readonly userMessage: string | null;
  readonly expectation: Expectation;
}

/** The result of a case. A case without a reason has passed. */
export interface CaseResult {
  /** The reason why the case has failed; null when it has passed. */
  readonly reason: string | null;
  /** JSON; null without an output. */
  readonly outputJson: string | null;
  /** Whether the answer fits the schema; null without an answer, as in the record of an execution. */
  readonly schemaValid: boolean | null;
  readonly usage: AgentUsage;
  readonly durationMs: number;
  /** The reason why there is no output; null when there is one. */
  readonly error: AgentFailure | null;
}
