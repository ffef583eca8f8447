import { isUuid } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { findOwnAgent } from "../store/agents.ts";
import type { AgentKey } from "../store/agents.ts";
import type { Agent } from "../domain/agent.ts";
import { findCoreAgent } from "./core/core-agents.ts";
import type { Models } from "./models/model.ts";

/** The dependencies of a search for agents. */
export interface FindingContext {
  readonly database: Queryable;
  readonly models: Pick<Models, "coreProvider">;
}

/**
 * Finds the agent with this id that a company can see, whatever its status: a core agent or one of its
 * own. Null when there is none, or the id is malformed (D1).
 */
export async function findAgent(
  { database, models }: FindingContext,
  companyId: string,
  agentId: string,
): Promise<Agent | null> {
  const core = findCoreAgent(agentId, models.coreProvider());
  if (core !== null) return core;
  const key = toAgentKey(companyId, agentId);
  return key === null ? null : findOwnAgent(database, key);
}

/**
 * The key of the company's own agent that a caller wants to change.
 *
 * @throws AppError BAD_REQUEST for a core agent; NOT_FOUND for a malformed id (D1)
 */
export function requireOwnAgentKey(
  { models }: Pick<FindingContext, "models">,
  agentId: string,
  { identity }: { identity: { companyId: string } },
): AgentKey {
  if (findCoreAgent(agentId, models.coreProvider()) !== null) {
    throw new AppError("BAD_REQUEST", "Core agents cannot be changed or deleted.");
  }
  const key = toAgentKey(identity.companyId, agentId);
  if (key === null) throw agentNotFound();
  return key;
}

/** The one error for agents that do not exist. */
export function agentNotFound(): AppError {
  return new AppError("NOT_FOUND", "Agent not found");
}

function toAgentKey(companyId: string, agentId: string): AgentKey | null {
  if (!isUuid(agentId)) return null;
  return { companyId: companyId.toLowerCase(), agentId: agentId.toLowerCase() };
}
