import { AppError } from "@workflow/errors";
import type { Agent, UpdateAgentRequest } from "@workflow/proto/integrations/v1/agents";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { agentEntry } from "../agents/agent-audit.ts";
import { changedAgentContent, checkPatch } from "../agents/agent-settings.ts";
import type { AgentPatch } from "../agents/agent-settings.ts";
import { agentNotFound, requireOwnAgentKey } from "../agents/find-agent.ts";
import type { SchemaChecks } from "../agents/schema-checks.ts";
import type { ServiceContext } from "../context.ts";
import { lockAgent, updateAgent as updateRow } from "../store/agents.ts";
import { agentTypeOf, toAgentMessage } from "./agent-message.ts";

/** Changes an active agent of the company. Every update makes a version, even one without a difference. */
export function updateAgent(
  context: ServiceContext,
  schemas: SchemaChecks,
): UnaryMethod<UpdateAgentRequest, Agent> {
  const { writes, audit, models } = context;
  return rpc({
    scopes: "workflows:write",
    async handler(request, call) {
      const patch = toPatch(request);
      const { companyId } = call.identity;
      checkPatch(patch, await schemas.check(companyId, patch.outputSchemaJson, call.signal));
      const key = requireOwnAgentKey(context, request.agentId, call);
      const agent = await writes.transaction(call, async (transaction) => {
        const before = await lockAgent(transaction, key);
        if (before === null) throw agentNotFound();
        const content = changedAgentContent(before, patch, models);
        const after = await updateRow(transaction, key, before.version, content);
        if (after === null)
          throw new AppError("BAD_REQUEST", "The agent is deprecated and cannot be changed.");
        await audit.record(transaction, call, agentEntry("agent.updated", before, after));
        return after;
      });
      audit.wake();
      return toAgentMessage(agent, models);
    },
  });
}

/** An empty text clears an optional field. */
function toPatch({ description, outputSchemaJson, ...rest }: UpdateAgentRequest): AgentPatch {
  return {
    ...rest,
    type: agentTypeOf(rest.type),
    description: description === "" ? null : description,
    outputSchemaJson: outputSchemaJson === "" ? null : outputSchemaJson,
  };
}
