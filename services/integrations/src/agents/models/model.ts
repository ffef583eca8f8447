import type { AgentProvider, AgentUsage } from "../../domain/agent.ts";
import type { FinishReason } from "../../domain/finish-reason.ts";

/** One message to or from the model; the first is the user's, then they alternate. */
export interface ModelMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** A question to a model. */
export interface ModelQuestion {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly temperature: number;
  readonly maxTokens: number;
  /**
   * The schema of the answer, passed to the provider's structured mode where possible; null for an
   * answer that is text.
   */
  readonly outputSchema: Readonly<Record<string, unknown>> | null;
}

/** The company of a question, and its time limits. */
export interface AskOptions {
  readonly companyId: string;
  /** W3C trace context of the question. */
  readonly traceparent?: string | undefined;
  readonly signal: AbortSignal;
  /** The limit of the exchange with the provider, which starts when there is a place for it. */
  readonly timeoutMs: number;
  /** The limit of the wait for a place and the exchange together. */
  readonly leftMs: number;
  /** Called when a request is sent; called again when a second request replaces a refused first one. */
  readonly onSent: () => void;
}

/** The answer of a model. */
export interface ModelAnswer {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: AgentUsage;
  /** Warnings about settings that the model does not know and did not get, for people. */
  readonly warnings: readonly string[];
}

/** The models that the installation offers. */
export interface Models {
  /** The one model of a provider (D43). */
  modelOf(provider: AgentProvider): string;
  /** The setting that is missing for questions to this provider; null when nothing is. */
  missingSetting(provider: AgentProvider): string | null;
  /** The provider of core agents: the default one, or the only one whose key is set. */
  coreProvider(): AgentProvider;
  /**
   * Asks once, without a retry.
   *
   * @throws ModelCallError when there is no answer; the signal's reason when the call was aborted
   */
  ask(provider: AgentProvider, question: ModelQuestion, exchange: AskOptions): Promise<ModelAnswer>;
}
