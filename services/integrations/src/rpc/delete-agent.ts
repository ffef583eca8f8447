import type {
  DeleteAgentRequest,
  DeleteAgentResponse,
} from "@workflow/proto/integrations/v1/agents";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { agentEntry } from "../agents/agent-audit.ts";
import { agentNotFound, requireOwnAgentKey } from "../agents/find-agent.ts";
import { DEPRECATED_AGENTS_KEPT } from "../agents/limits.ts";
import type { ServiceContext } from "../context.ts";
import { deprecateAgent, findOwnAgent, trimDeprecatedAgents } from "../store/agents.ts";

/** Deprecates an agent, and frees its name. A deprecated agent stays unchanged. */
export function deleteAgent(
  context: ServiceContext,
): UnaryMethod<DeleteAgentRequest, DeleteAgentResponse> {
  const { writes, audit } = context;
  return rpc({
    scopes: "workflows:write",
    async handler({ agentId }, call) {
      const key = requireOwnAgentKey(context, agentId, call);
      await writes.transaction(call, async (transaction) => {
        const deprecated = await deprecateAgent(transaction, key);
        if (deprecated === null) {
          if ((await findOwnAgent(transaction, key)) === null) throw agentNotFound();
          return;
        }
        await trimDeprecatedAgents(transaction, key.companyId, DEPRECATED_AGENTS_KEPT);
        const before = { ...deprecated, status: "active" } as const;
        await audit.record(transaction, call, agentEntry("agent.deleted", before, deprecated));
      });
      audit.wake();
      return {};
    },
  });
}
