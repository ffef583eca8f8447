import type { Agent, AgentProvider } from "../../domain/agent.ts";
import { agentContent } from "./agent-content.ts";
import { agentDecision } from "./agent-decision.ts";
import { agentExtraction } from "./agent-extraction.ts";
import { agentTransform } from "./agent-transform.ts";
import type { CoreAgent } from "./core-agent.ts";

/** The agents that all companies have, in the order of lists. */
export const CORE_AGENTS: readonly CoreAgent[] = [
  agentExtraction,
  agentContent,
  agentTransform,
  agentDecision,
];

/** The creation time of core agents; their changes show in `version`. */
const MADE_AT = Date.UTC(2026, 10, 23);

/** The core agent of this id as callers see it, with this provider; null when there is none. */
export function findCoreAgent(id: string, provider: AgentProvider): Agent | null {
  const found = CORE_AGENTS.find((agent) => agent.id === id);
  return found === undefined ? null : toAgent(found, provider);
}

/** All core agents as callers see them, with this provider. */
export function listCoreAgents(provider: AgentProvider): Agent[] {
  return CORE_AGENTS.map((agent) => toAgent(agent, provider));
}

function toAgent(agent: CoreAgent, provider: AgentProvider): Agent {
  const { id, name, description, type, systemPrompt, temperature, maxTokens, version } = agent;
  return {
    id,
    isCore: true,
    name,
    description,
    type,
    status: "active",
    provider,
    systemPrompt,
    outputSchemaJson: JSON.stringify(agent.outputSchema),
    temperature,
    maxTokens,
    version,
    createdAt: new Date(MADE_AT),
    updatedAt: new Date(MADE_AT),
  };
}
