import { AgentType } from "@workflow/proto/integrations/v1/agents";
import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { agentFields } from "./agent-fields.ts";
import { AGENT_TYPES, agentJson } from "./agent-json.ts";
import { agentSchema } from "./agent-schema.ts";

export const updateAgent = route({
  method: "PUT",
  path: "/agents/{id}",
  scope: "workflows:write",
  bucket: "write",
  audit: "agent.updated",
  summary: "Change an agent",
  description: [
    "Fields that are left out stay; null clears `description` and `outputSchema`.",
    "Each update raises the version by one, and questions from then on meet the new one.",
    "Core agents and deprecated ones cannot be changed: BAD_REQUEST.",
  ],
  params: { id: "The agent's id." },
  query: NO_QUERY,
  body: {
    schema: z
      .object(agentFields)
      .partial()
      .meta({ id: "AgentPatch", description: "What to change of an agent; all else stays." }),
    optional: true,
  },
  responses: { 200: { description: "The agent as it is now.", data: agentSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ agents, call }, { params, body, rawJson }) => {
    const { description, type, outputSchema } = body;
    const agent = await agents.updateAgent(
      {
        agentId: params.id,
        name: body.name,
        // Null clears these two fields; the message carries it as an empty text.
        description: description === null ? "" : description,
        outputSchemaJson: outputSchema === null ? "" : rawJson("outputSchema"),
        type: type === undefined ? AgentType.UNSPECIFIED : AGENT_TYPES[type],
        systemPrompt: body.systemPrompt,
        provider: body.provider,
        model: body.model,
        temperature: body.temperature,
        maxTokens: body.maxTokens,
      },
      call,
    );
    return { status: 200, data: agentJson(agent) };
  },
});
