import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageFields } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { listedExecutionJson } from "./execution-json.ts";

export const listAgentExecutions = route({
  method: "GET",
  path: "/agents/{id}/executions",
  scope: "runs:read",
  bucket: "read",
  summary: "List what an agent was asked, newest first, without input and output",
  params: { id: "The agent's id." },
  query: z.object(pageFields),
  body: NO_BODY,
  responses: { 200: "A page of executions." },
  handler: async ({ agents, call }, { params, query: { limit, cursor } }) => {
    const page = await agents.listAgentExecutions(
      { agentId: params.id, page: { limit, cursor } },
      call,
    );
    return {
      status: 200,
      data: page.executions.map(listedExecutionJson),
      meta: pageMeta(page.page),
    };
  },
});
