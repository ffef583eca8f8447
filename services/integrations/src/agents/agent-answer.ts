import type { FailureCode } from "@workflow/errors";
import type { Agent, AgentOverrides, AgentUsage } from "../domain/agent.ts";
import type { FinishReason } from "../domain/finish-reason.ts";
import type { Spent } from "./spending.ts";

/** One question to an agent. */
export interface AgentQuestion {
  readonly companyId: string;
  /** W3C trace context of the asking call. */
  readonly traceparent?: string | undefined;
  readonly agent: Agent;
  readonly input: Readonly<Record<string, unknown>>;
  readonly userMessage: string | null;
  readonly overrides: AgentOverrides;
  readonly signal: AbortSignal;
  /** The limit of all attempts together, repairs included, in milliseconds. */
  readonly timeoutMs: number;
}

/** The model's answer, whether it is usable or not. */
export interface AgentAnswer {
  /** The output as JSON text; a JSON string without a schema; null when the answer does not fit. */
  readonly outputJson: string | null;
  /** The model's last answer, unchanged. */
  readonly rawOutput: string;
  /** The usage of all attempts. */
  readonly usage: AgentUsage;
  readonly durationMs: number;
  readonly finishReason: FinishReason;
  readonly schemaValid: boolean;
  /** The number of repairs, 0 to 2. */
  readonly repairAttempts: number;
  readonly model: string;
  readonly warnings: readonly string[];
  /** The reason why there is no output; null when there is one. */
  readonly error: AgentFailure | null;
}

/** The reason why an answer is no output. */
export interface AgentFailure {
  /** AGENT_OUTPUT_INVALID, AGENT_OUTPUT_CUT (length), AGENT_OUTPUT_REFUSED or AGENT_OUTPUT_TOO_LARGE. */
  readonly code: FailureCode;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A checked question. The provider was not asked yet. */
export interface PreparedQuestion {
  /** An estimate of the first prompt's tokens, too high rather than too low. */
  readonly inputTokensEstimate: number;
  /** The limit of one answer of the model, overrides included. */
  readonly maxTokens: number;
  /** The model that will be asked. */
  readonly model: string;
  /**
   * Asks the agent, and asks at most twice again when the answer does not fit. Call it only once.
   *
   * @throws ModelCallError when the provider gave no answer; the signal's reason when the call was
   * aborted. `spent` then returns the usage.
   */
  readonly ask: () => Promise<AgentAnswer>;
  /** The usage so far, needed when `ask` has thrown. */
  readonly spent: () => Spent;
}

/**
 * Checks and composes a question before it is recorded or costs anything.
 *
 * @throws AgentInputError when the agent does not take the input, user message or overrides
 * @throws ModelCallError NOT_CONFIGURED when the provider's key is not set
 */
export type PrepareQuestion = (question: AgentQuestion) => Promise<PreparedQuestion>;
