import { AgentStatus, AgentType } from "@workflow/proto/integrations/v1/agents";
import type { Agent } from "@workflow/proto/integrations/v1/agents";
import type { z } from "zod";
import { rawOrNull } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";
import type { agentStatus, agentType } from "./agent-fields.ts";

/** The types of agents by their names in the REST contract. */
export const AGENT_TYPES = {
  extraction: AgentType.EXTRACTION,
  content: AgentType.CONTENT,
  transform: AgentType.TRANSFORM,
  decision: AgentType.DECISION,
  code: AgentType.CODE,
  classification: AgentType.CLASSIFICATION,
  custom: AgentType.CUSTOM,
} as const satisfies Record<z.output<typeof agentType>, AgentType>;

/** The statuses of an agent by their names in the REST contract. */
export const AGENT_STATUSES = {
  active: AgentStatus.ACTIVE,
  deprecated: AgentStatus.DEPRECATED,
} as const satisfies Record<z.output<typeof agentStatus>, AgentStatus>;

const TYPE_NAMES = new Map<AgentType, string>(
  Object.entries(AGENT_TYPES).map(([name, type]) => [type, name]),
);
const STATUS_NAMES = new Map<AgentStatus, string>(
  Object.entries(AGENT_STATUSES).map(([name, status]) => [status, name]),
);

/** An agent as the contract shows it. */
export function agentJson(agent: Agent): { readonly [field: string]: Writable } {
  return {
    id: agent.id,
    name: agent.name,
    description: agent.description ?? null,
    type: TYPE_NAMES.get(agent.type) ?? "unknown",
    scope: agent.isCore ? "global" : "company",
    status: STATUS_NAMES.get(agent.status) ?? "unknown",
    provider: agent.provider,
    model: agent.model,
    systemPrompt: agent.systemPrompt,
    outputSchema: rawOrNull(agent.outputSchemaJson),
    temperature: agent.temperature,
    maxTokens: agent.maxTokens,
    version: agent.version,
    createdAt: agent.createdAt,
    updatedAt: agent.updatedAt,
  };
}
