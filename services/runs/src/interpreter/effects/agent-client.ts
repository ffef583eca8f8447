import type { CallCause } from "../../domain/run-facts.ts";

/** Settings in place of the agent's for one call. */
export interface AgentOverrides {
  /** 0 to 2. */
  temperature?: number | undefined;
  /** Of one answer of the model. */
  maxTokens?: number | undefined;
  /** The model that the installation offers of the agent's provider. */
  model?: string | undefined;
}

/** What an agent is asked. */
export interface AgentQuestion {
  agentId: string;
  /** JSON text of an object. */
  input: string;
  userMessage: string | undefined;
  overrides: AgentOverrides;
}

/** What may be recorded of a question in which secrets are: the same with secrets masked. */
export type AgentRecord = Pick<AgentQuestion, "input" | "userMessage">;

/** For whom an agent is asked, and how often it may be. */
export interface AgentCall extends CallCause {
  runId: string;
  /** The answer that is recorded under it is given again. */
  key: string;
  /** Texts that must appear in nothing that is recorded, of the answer neither. */
  secrets: readonly string[];
  /** How long the step has from now on, in milliseconds; null: as long as the installation gives. */
  timeoutMs: number | null;
}

/** The way out to AI agents: the integrations service. */
export interface AgentClient {
  /**
   * Waits until a question of so many bytes, with the secrets that go along, may be under way. Whoever waits
   * should not hold it yet. A step's time goes on meanwhile.
   *
   * @returns gives the place back; to be called once
   * @throws the signal's reason when it was aborted first
   */
  takeTurn(companyId: string, bytes: number, signal: AbortSignal): Promise<() => void>;
  /**
   * Asks an agent whose turn has come, once under one key. A call that is given up ends the request to the
   * provider.
   *
   * @param record null: the question as it is
   * @returns the answer as JSON text
   * @throws StepError with the codes that docs/errors.md has of agents; the signal's reason when it was
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
