import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { deletedSchema } from "../answer-schemas.ts";

export const deleteAgent = route({
  method: "DELETE",
  path: "/agents/{id}",
  scope: "workflows:write",
  bucket: "write",
  audit: "agent.deleted",
  summary: "Deprecate an agent",
  description: [
    "The agent can still be read and never be asked again; its name is free.",
    "Steps that name it fail, runs that have begun included.",
    "Core agents cannot be deprecated: BAD_REQUEST. A second time is fine.",
  ],
  params: { id: "The agent's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The agent is deprecated.", data: deletedSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ agents, call }, { params }) => {
    await agents.deleteAgent({ agentId: params.id }, call);
    return { status: 200, data: { deleted: true } };
  },
});
