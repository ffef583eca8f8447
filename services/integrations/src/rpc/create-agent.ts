import { newUuid } from "@workflow/db";
import type { Agent, CreateAgentRequest } from "@workflow/proto/integrations/v1/agents";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { agentEntry } from "../agents/agent-audit.ts";
import { newAgentContent } from "../agents/agent-settings.ts";
import { ACTIVE_AGENTS_MAX, tooManyAgents } from "../agents/limits.ts";
import type { SchemaChecks } from "../agents/schema-checks.ts";
import type { ServiceContext } from "../context.ts";
import { insertAgent, lockAgentsOf } from "../store/agents.ts";
import { agentTypeOf, toAgentMessage } from "./agent-message.ts";

/** Creates an agent of the company. */
export function createAgent(
  { writes, audit, models }: ServiceContext,
  schemas: SchemaChecks,
): UnaryMethod<CreateAgentRequest, Agent> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, call) {
      const { description, outputSchemaJson } = request;
      const key = { companyId: call.identity.companyId.toLowerCase(), agentId: newUuid() };
      const patch = {
        ...request,
        type: agentTypeOf(request.type),
        description: description === "" ? null : description,
      };
      const problems = await schemas.check(key.companyId, outputSchemaJson, call.signal);
      const content = newAgentContent(patch, problems, models);
      const agent = await writes.transaction(call, async (transaction) => {
        await lockAgentsOf(transaction, key.companyId);
        const created = await insertAgent(transaction, key, content, ACTIVE_AGENTS_MAX);
        if (created === null) throw tooManyAgents();
        await audit.record(transaction, call, agentEntry("agent.created", null, created));
        return created;
      });
      audit.wake();
      return toAgentMessage(agent, models);
    },
  });
}
