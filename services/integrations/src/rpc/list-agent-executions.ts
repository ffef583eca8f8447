import type {
  ListAgentExecutionsRequest,
  ListAgentExecutionsResponse,
} from "@workflow/proto/integrations/v1/agent_executions";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { agentNotFound, findAgent } from "../agents/find-agent.ts";
import type { ServiceContext } from "../context.ts";
import { listExecutions } from "../store/agent-executions.ts";
import { toListedMessage } from "./agent-execution-message.ts";
import { parseLimit } from "./page-limit.ts";

/** Lists the company's executions of an agent, newest first (D6). */
export function listAgentExecutions(
  context: ServiceContext,
): UnaryMethod<ListAgentExecutionsRequest, ListAgentExecutionsResponse> {
  const { database, cursors } = context;
  return rpc({
    scopes: "runs:read",
    async handler({ agentId, page }, { identity }) {
      const companyId = identity.companyId.toLowerCase();
      const limit = parseLimit(page?.limit ?? 0);
      const binding = JSON.stringify(["agentExecutions", companyId, agentId.toLowerCase()]);
      const cursor = page?.cursor ?? "";
      const after = cursor === "" ? null : toPosition(cursors.decode(binding, cursor));
      const agent = await findAgent(context, companyId, agentId);
      if (agent === null) throw agentNotFound();
      const found = await listExecutions(database, { companyId, agentId: agent.id, limit, after });
      const last = found.hasMore ? found.rows.at(-1) : undefined;
      return {
        executions: found.rows.map(toListedMessage),
        page: {
          cursor: last ? cursors.encode(binding, [last.createdAt.toISOString(), last.id]) : "",
          hasMore: found.hasMore,
        },
      };
    },
  });
}

/** Cursors are signed, so a cursor that decodes was made above. */
function toPosition([createdAt, id]: string[]): { createdAt: string; id: string } {
  if (createdAt === undefined || id === undefined) throw new Error("A cursor holds no position.");
  return { createdAt, id };
}
