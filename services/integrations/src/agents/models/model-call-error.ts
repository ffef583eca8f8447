import type { AgentProvider, AgentUsage } from "../../domain/agent.ts";

/**
 * NOT_CONFIGURED (no key), AGENT_RATE_LIMITED (the provider's 429), AGENT_TIMEOUT,
 * AGENT_UNAVAILABLE (5xx, redirects, transport, an answer that is none), AGENT_REFUSED (other 4xx, 401 included).
 */
export const MODEL_CALL_CODES = [
  "NOT_CONFIGURED",
  "AGENT_RATE_LIMITED",
  "AGENT_TIMEOUT",
  "AGENT_UNAVAILABLE",
  "AGENT_REFUSED",
] as const;

/** What kept a provider from answering. */
export interface ModelCallFailure {
  readonly provider: AgentProvider;
  readonly code: (typeof MODEL_CALL_CODES)[number];
  /** The provider's HTTP status; null when there was none. */
  readonly status: number | null;
  /** Another attempt may go well. */
  readonly retryable: boolean;
  /** The provider may have worked on what it was sent, and nobody tells what that cost. */
  readonly mayHaveCost: boolean;
  /** What attempts before this one have used; absent: nothing. */
  readonly usage?: AgentUsage | undefined;
  /** The provider asked for this pause, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** There is no answer of the model. The message never holds the key. */
export class ModelCallError extends Error {
  override readonly name = "ModelCallError";
  readonly failure: ModelCallFailure;

  constructor(message: string, failure: ModelCallFailure, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}
