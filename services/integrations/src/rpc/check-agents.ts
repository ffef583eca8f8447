import { isUuid } from "@workflow/db";
import type {
  CheckAgentsRequest,
  CheckAgentsResponse,
} from "@workflow/proto/integrations/v1/agents";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { listCoreAgents } from "../agents/core/core-agents.ts";
import type { ServiceContext } from "../context.ts";
import { listActiveAgentIds } from "../store/agents.ts";
import { badRequest } from "./action-message.ts";

const AGENTS_MAX = 1_000;

/** Returns which agents of a workflow do not exist, or cannot be asked any more. */
export function checkAgents({
  database,
  models,
}: ServiceContext): UnaryMethod<CheckAgentsRequest, CheckAgentsResponse> {
  return rpc({
    scopes: "workflows:read",
    async handler({ agentIds }, { identity }) {
      if (agentIds.length > AGENTS_MAX) {
        throw badRequest("agentIds", `must be at most ${AGENTS_MAX}`);
      }
      const core = new Set(listCoreAgents(models.coreProvider()).map(({ id }) => id));
      const own = agentIds.filter(isUuid).map((id) => id.toLowerCase());
      const active = await listActiveAgentIds(database, identity.companyId, own);
      return {
        missingAgentIds: agentIds.filter((id) => !core.has(id) && !active.has(id.toLowerCase())),
      };
    },
  });
}
