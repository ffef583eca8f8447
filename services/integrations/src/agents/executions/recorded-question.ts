import type { AgentQuestion } from "../agent-answer.ts";

/** Of ids of executions (D1). */
export const EXECUTION_ID_PREFIX = "aex_";

/** A question and what is kept of it. */
export interface RecordedQuestion extends AgentQuestion {
  /** What is recorded in place of the input and the message: the same with secrets masked. */
  readonly recorded: { readonly inputJson: string; readonly userMessage: string | null };
  /** Texts that must appear in nothing that is recorded or answered. */
  readonly secrets: readonly string[];
  /** The run on whose behalf; only kept. */
  readonly workflowRunId: string | null;
  /** The same for every try of what must be paid once; null: it is asked in any case. */
  readonly idempotencyKey: string | null;
}
