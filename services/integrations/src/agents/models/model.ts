import type { AgentProvider, AgentUsage } from "../../domain/agent.ts";
import type { FinishReason } from "../../domain/finish-reason.ts";

/** One message to or from the model; the first is the user's, then they alternate. */
export interface ModelMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** What a model is asked. */
export interface ModelQuestion {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly temperature: number;
  readonly maxTokens: number;
  /** Handed to the provider's structured mode where it fits; null: the answer is text. */
  readonly outputSchema: Readonly<Record<string, unknown>> | null;
}

/** For whom, and how long. */
export interface AskOptions {
  readonly companyId: string;
  /** W3C trace context of the question. */
  readonly traceparent?: string | undefined;
  readonly signal: AbortSignal;
  /** Of this exchange with the provider, from when there is a place for it. */
  readonly timeoutMs: number;
  /** Of the wait for a place and the exchange together. */
  readonly leftMs: number;
  /** Called when a request goes out; again when another one takes its place, as the first was refused. */
  readonly onSent: () => void;
}

/** What a model answered. */
export interface ModelAnswer {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: AgentUsage;
  /** Settings that the model does not know and was not sent, for people. */
  readonly warnings: readonly string[];
}

/** The models that the installation offers. */
export interface Models {
  /** The one model of a provider (D43). */
  modelOf(provider: AgentProvider): string;
  /** The setting that is missing to ask this provider; null when it can be asked. */
  missingSetting(provider: AgentProvider): string | null;
  /** Core agents use the default provider, or the only one whose key is set. */
  coreProvider(): AgentProvider;
  /**
   * Asks once; retrying is the caller's business.
   *
   * @throws ModelCallError when there is no answer, and the signal's reason when that has ended it
   */
  ask(provider: AgentProvider, question: ModelQuestion, exchange: AskOptions): Promise<ModelAnswer>;
}
