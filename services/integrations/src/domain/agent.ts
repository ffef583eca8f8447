/** The AI providers that agents can use (D43); the first is the default. */
export const AGENT_PROVIDERS = ["openai", "anthropic"] as const;
export type AgentProvider = (typeof AGENT_PROVIDERS)[number];

/** What an agent can be for, as the contract names it. */
export const AGENT_TYPES = [
  "extraction",
  "content",
  "transform",
  "decision",
  "code",
  "classification",
  "custom",
] as const;
export type AgentType = (typeof AGENT_TYPES)[number];

/** An active agent can be asked; a deprecated one never again, it is kept for the record. */
export const AGENT_STATUSES = ["active", "deprecated"] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** Core agents and those of companies alike. */
export interface Agent {
  /** A UUID, or a core agent's own id. */
  readonly id: string;
  /** Whether all companies have it. */
  readonly isCore: boolean;
  readonly name: string;
  readonly description: string | null;
  readonly type: AgentType;
  readonly status: AgentStatus;
  readonly provider: AgentProvider;
  readonly systemPrompt: string;
  /** JSON Schema as text; null: answers are text. */
  readonly outputSchemaJson: string | null;
  /** 0 to 2. */
  readonly temperature: number;
  /** Of one answer of the model. */
  readonly maxTokens: number;
  /** From 1, raised by each update. */
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Settings in place of the agent's for one call. */
export interface AgentOverrides {
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** Has to be the model of the agent's provider. */
  readonly model?: string | undefined;
}

/** Tokens as the provider counts them. */
export interface AgentUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}
