import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageFields } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { listedExecutionJson } from "./execution-json.ts";
import { listedExecutionSchema } from "./execution-schema.ts";
import { pageMetaSchema } from "../answer-schemas.ts";

export const listAgentExecutions = route({
  method: "GET",
  path: "/agents/{id}/executions",
  scope: "runs:read",
  bucket: "read",
  summary: "List the executions of an agent",
  description: [
    "The newest execution comes first, without input, message and output.",
    "Those that steps have asked for are among them, with their `workflowRunId`.",
  ],
  params: { id: "The agent's id." },
  query: z.object(pageFields),
  body: NO_BODY,
  responses: {
    200: {
      description: "A page of executions.",
      data: z.array(listedExecutionSchema),
      meta: pageMetaSchema,
    },
  },
  errors: ["NOT_FOUND"],
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
