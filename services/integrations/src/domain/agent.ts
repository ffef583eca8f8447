/** The AI providers that agents can use (D43); the first is the default. */
export const AGENT_PROVIDERS = ["openai", "anthropic"] as const;
export type AgentProvider = (typeof AGENT_PROVIDERS)[number];

/** The types of agents, as the contract names them. */
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

/** The statuses of an agent. A deprecated agent is kept for the record and can never be asked again. */
export const AGENT_STATUSES = ["active", "deprecated"] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** A core agent or a company's own. */
export interface Agent {
  /** A UUID, or a core agent's own id. */
  readonly id: string;
  /** Whether all companies have the agent. */
  readonly isCore: boolean;
  readonly name: string;
  readonly description: string | null;
  readonly type: AgentType;
  readonly status: AgentStatus;
  readonly provider: AgentProvider;
  readonly systemPrompt: string;
  /** JSON Schema as text; null for answers that are text. */
  readonly outputSchemaJson: string | null;
  /** 0 to 2. */
  readonly temperature: number;
  /** The limit of one answer of the model. */
  readonly maxTokens: number;
  /** The version, from 1; each update raises it. */
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Settings that replace the agent's for one call. */
export interface AgentOverrides {
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** The model, which must belong to the agent's provider. */
  readonly model?: string | undefined;
}

/** Tokens as the provider counts them. */
export interface AgentUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}
