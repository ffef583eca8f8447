import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { deletedSchema } from "../answer-schemas.ts";

export const deleteAgent = route({
  method: "DELETE",
  path: "/agents/{id}",
  scope: "workflows:write",
  bucket: "write",
  audit: "agent.deleted",
  summary: "Deprecate an agent of the company for good; steps that name it fail",
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
