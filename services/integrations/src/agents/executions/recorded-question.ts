import type { AgentQuestion } from "../agent-answer.ts";

/** The prefix of execution ids (D1). */
export const EXECUTION_ID_PREFIX = "aex_";

/** A question, and the parts of it that are recorded. */
export interface RecordedQuestion extends AgentQuestion {
  /** The input and the message as they are recorded, with secrets masked. */
  readonly recorded: { readonly inputJson: string; readonly userMessage: string | null };
  /** Texts that must not appear in records or answers. */
  readonly secrets: readonly string[];
  /** The run for which the agent is asked; recorded only. */
  readonly workflowRunId: string | null;
  /** A key that is the same for every try of a call that must be paid once; null without one. */
  readonly idempotencyKey: string | null;
}
