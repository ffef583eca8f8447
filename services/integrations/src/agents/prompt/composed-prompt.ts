/** What a model is told at first. */
export interface ComposedPrompt {
  /** The agent's system prompt and what is said of delimiters; nothing of the input. */
  readonly system: string;
  /** The input between delimiters that it can't close, and the user's message. */
  readonly user: string;
  /** What the answer must fit; null: it is text. */
  readonly outputSchema: Readonly<Record<string, unknown>> | null;
}
