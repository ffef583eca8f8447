import { AppError } from "@workflow/errors";
import type { Agent } from "../domain/agent.ts";
import { agentNotFound, findAgent } from "./find-agent.ts";
import type { FindingContext } from "./find-agent.ts";

/**
 * Finds the agent with this id for a question of a company.
 *
 * @throws AppError NOT_FOUND when the company has no such agent; BAD_REQUEST when the agent is
 * deprecated (D43)
 */
export async function getAskableAgent(
  context: FindingContext,
  companyId: string,
  agentId: string,
): Promise<Agent> {
  const agent = await findAgent(context, companyId, agentId);
  if (agent === null) throw agentNotFound();
  if (agent.status === "active") return agent;
  throw new AppError("BAD_REQUEST", "The agent is deprecated and cannot be asked any more.", {
    details: { status: agent.status },
  });
}
