/** The first messages to a model. */
export interface ComposedPrompt {
  /** The agent's system prompt and the rules for delimiters; nothing of the input. */
  readonly system: string;
  /** The input between delimiters that it can't close, and the user's message. */
  readonly user: string;
  /** The schema of the answer; null for an answer that is text. */
  readonly outputSchema: Readonly<Record<string, unknown>> | null;
}
