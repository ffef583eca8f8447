import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { agentJson } from "./agent-json.ts";
import { agentSchema } from "./agent-schema.ts";

export const getAgent = route({
  method: "GET",
  path: "/agents/{id}",
  scope: "workflows:read",
  bucket: "read",
  summary: "Get an agent",
  description: [
    "A core agent and a deprecated one are found as well.",
    "A deprecated agent cannot be asked any more.",
  ],
  params: { id: "The agent's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The agent.", data: agentSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ agents, call }, { params }) => {
    const agent = await agents.getAgent({ agentId: params.id }, call);
    return { status: 200, data: agentJson(agent) };
  },
});
