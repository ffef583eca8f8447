import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { agentFields } from "./agent-fields.ts";
import { AGENT_TYPES, agentJson } from "./agent-json.ts";
import { agentSchema } from "./agent-schema.ts";

export const createAgent = route({
  method: "POST",
  path: "/agents",
  scope: "workflows:write",
  bucket: "write",
  audit: "agent.created",
  summary: "Create an agent",
  description: [
    "The agent can be asked at once, by steps and directly; its version is 1.",
    "The name has to be one that no other active agent of the company has, else BAD_REQUEST.",
    "Provider and model have to belong together; without either the provider is openai.",
    "With an `outputSchema` answers are JSON that fits it, without one they are text.",
    "A company has 1,000 active agents at most, else BAD_REQUEST with `details.limit` `agents`.",
  ],
  params: {},
  query: NO_QUERY,
  body: {
    schema: z.object(agentFields).meta({ id: "NewAgent", description: "A new agent." }),
  },
  responses: { 201: { description: "The new agent: active, version 1.", data: agentSchema } },
  handler: async ({ agents, call }, { body, rawJson }) => {
    const agent = await agents.createAgent(
      {
        name: body.name,
        description: body.description ?? undefined,
        type: AGENT_TYPES[body.type],
        systemPrompt: body.systemPrompt,
        provider: body.provider,
        model: body.model,
        outputSchemaJson: body.outputSchema ? rawJson("outputSchema") : undefined,
        temperature: body.temperature,
        maxTokens: body.maxTokens,
      },
      call,
    );
    return { status: 201, data: agentJson(agent) };
  },
});
