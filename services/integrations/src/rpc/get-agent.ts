import type { Agent, GetAgentRequest } from "@workflow/proto/integrations/v1/agents";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { agentNotFound, findAgent } from "../agents/find-agent.ts";
import type { ServiceContext } from "../context.ts";
import { toAgentMessage } from "./agent-message.ts";

/** Returns one agent; core agents and deprecated ones included. */
export function getAgent(context: ServiceContext): UnaryMethod<GetAgentRequest, Agent> {
  return rpc({
    scopes: "workflows:read",
    async handler({ agentId }, { identity }) {
      const agent = await findAgent(context, identity.companyId, agentId);
      if (agent === null) throw agentNotFound();
      return toAgentMessage(agent, context.models);
    },
  });
}
