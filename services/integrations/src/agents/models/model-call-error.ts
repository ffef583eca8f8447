import type { AgentProvider, AgentUsage } from "../../domain/agent.ts";

/**
 * NOT_CONFIGURED (no key), AGENT_RATE_LIMITED (the provider's 429), AGENT_TIMEOUT, AGENT_UNAVAILABLE
 * (5xx, redirects, transport errors, malformed answers), AGENT_REFUSED (other 4xx, 401 included).
 */
export const MODEL_CALL_CODES = [
  "NOT_CONFIGURED",
  "AGENT_RATE_LIMITED",
  "AGENT_TIMEOUT",
  "AGENT_UNAVAILABLE",
  "AGENT_REFUSED",
] as const;

/** The reason why a provider gave no answer. */
export interface ModelCallFailure {
  readonly provider: AgentProvider;
  readonly code: (typeof MODEL_CALL_CODES)[number];
  /** The provider's HTTP status; null when there was none. */
  readonly status: number | null;
  /** Whether another attempt may succeed. */
  readonly retryable: boolean;
  /** Whether the provider may have worked on the request without reporting the cost. */
  readonly mayHaveCost: boolean;
  /** The usage of earlier attempts; absent when there was none. */
  readonly usage?: AgentUsage | undefined;
  /** The pause that the provider asked for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** A model gave no answer. The message never contains the key. */
export class ModelCallError extends Error {
  override readonly name = "ModelCallError";
  readonly failure: ModelCallFailure;

  constructor(message: string, failure: ModelCallFailure, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}
