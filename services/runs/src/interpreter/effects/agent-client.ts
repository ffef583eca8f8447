import type { CallCause } from "../../domain/run-facts.ts";

/** Settings that replace the agent's own for one call. */
export interface AgentOverrides {
  /** 0 to 2. */
  temperature?: number | undefined;
  /** The limit for one answer of the model. */
  maxTokens?: number | undefined;
  /** A model that the installation offers of the agent's provider. */
  model?: string | undefined;
}

/** The question to an agent. */
export interface AgentQuestion {
  agentId: string;
  /** JSON text of an object. */
  input: string;
  userMessage: string | undefined;
  overrides: AgentOverrides;
}

/** The recordable form of a question that holds secrets: the same with secrets masked. */
export type AgentRecord = Pick<AgentQuestion, "input" | "userMessage">;

/** The run for which an agent is asked, and the limits of the call. */
export interface AgentCall extends CallCause {
  runId: string;
  /** The key of the question. The answer that is recorded under it is given again. */
  key: string;
  /** Texts that must appear in nothing that is recorded, the answer included. */
  secrets: readonly string[];
  /** How long the step has from now on, in milliseconds; null: as long as the installation allows. */
  timeoutMs: number | null;
}

/** The client for AI agents, at the integrations service. */
export interface AgentClient {
  /**
   * Waits until a question of so many bytes, with its secrets, may be sent. The caller should not hold
   * the question while it waits. The step's timeout goes on.
   *
   * @returns releases the place; to be called once
   * @throws the signal's reason when it was aborted first
   */
  takeTurn(companyId: string, bytes: number, signal: AbortSignal): Promise<() => void>;
  /**
   * Asks an agent, once under one key. Aborting the call ends the request to the provider. `takeTurn`
   * comes first.
   *
   * @param record null: the question is recorded as it is
   * @returns the answer as JSON text
   * @throws StepError with the codes for agents in docs/errors.md, or the signal's reason when it was
   * aborted
   */
  ask(
    question: AgentQuestion,
    record: AgentRecord | null,
    call: AgentCall,
    signal: AbortSignal,
  ): Promise<string>;
  close(): void;
}
