import type { FailureCode } from "@workflow/errors";
import type { Agent, AgentOverrides, AgentUsage } from "../domain/agent.ts";
import type { FinishReason } from "../domain/finish-reason.ts";
import type { Spent } from "./spending.ts";

/** One question to an agent. */
export interface AgentQuestion {
  readonly companyId: string;
  /** W3C trace context of the call that asks it. */
  readonly traceparent?: string | undefined;
  readonly agent: Agent;
  readonly input: Readonly<Record<string, unknown>>;
  readonly userMessage: string | null;
  readonly overrides: AgentOverrides;
  readonly signal: AbortSignal;
  /** Of the whole, repair attempts included. */
  readonly timeoutMs: number;
}

/** What the model said, whether or not it can be used. */
export interface AgentAnswer {
  /** The output as JSON text, a JSON string where there is no schema; null when it does not fit. */
  readonly outputJson: string | null;
  /** The model's last answer word by word. */
  readonly rawOutput: string;
  /** Of all attempts. */
  readonly usage: AgentUsage;
  readonly durationMs: number;
  readonly finishReason: FinishReason;
  readonly schemaValid: boolean;
  /** 0 to 2. */
  readonly repairAttempts: number;
  readonly model: string;
  readonly warnings: readonly string[];
  /** Why there is no output; null when there is one. */
  readonly error: AgentFailure | null;
}

/** Why an answer is no output. */
export interface AgentFailure {
  /** AGENT_OUTPUT_INVALID, AGENT_OUTPUT_CUT (length), AGENT_OUTPUT_REFUSED or AGENT_OUTPUT_TOO_LARGE. */
  readonly code: FailureCode;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A question that is known to be one that the agent takes; nothing was asked yet. */
export interface PreparedQuestion {
  /** Tokens that the first prompt is likely to have, rather too many than too few. */
  readonly inputTokensEstimate: number;
  /** Of one answer of the model, overrides included. */
  readonly maxTokens: number;
  /** The model that will be asked. */
  readonly model: string;
  /**
   * Asks the agent, and again at most twice where the answer does not fit. To be called once.
   *
   * @throws ModelCallError when the provider gave no answer, and the signal's reason when that was aborted;
   * `spent` tells what was used until then
   */
  readonly ask: () => Promise<AgentAnswer>;
  /** What was used up to now, for when `ask` has no answer. */
  readonly spent: () => Spent;
}

/**
 * Checks and composes a question before anything of it is recorded or paid.
 *
 * @throws AgentInputError when the input, user message or overrides are not what the agent takes
 * @throws ModelCallError NOT_CONFIGURED when the provider's key is not set
 */
export type PrepareQuestion = (question: AgentQuestion) => Promise<PreparedQuestion>;
