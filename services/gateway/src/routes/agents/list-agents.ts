import { AgentStatus, AgentType } from "@workflow/proto/integrations/v1/agents";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageFields, queryBoolean } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { agentStatus, agentType } from "./agent-fields.ts";
import { AGENT_STATUSES, AGENT_TYPES, agentJson } from "./agent-json.ts";
import { agentSchema } from "./agent-schema.ts";
import { pageMetaSchema } from "../answer-schemas.ts";

/** A page ends with the agent that takes it beyond 1 MiB. */
const ANSWER_BYTES = 2 * 1024 * 1024;

export const listAgents = route({
  method: "GET",
  path: "/agents",
  scope: "workflows:read",
  bucket: "read",
  summary: "List agents",
  description: [
    "The company's agents come first, the newest at the head, then the core agents of all companies.",
    "Deprecated ones stand in the list only with `status=deprecated`.",
    "A page may end early where prompts and schemas are large; `meta.hasMore` counts.",
  ],
  params: {},
  query: z.object({
    type: agentType.optional().describe("Only agents of this type."),
    status: agentStatus.optional().describe("Only agents of this status; active ones by default."),
    search: z
      .string()
      .max(255, "must have at most 255 characters")
      .default("")
      .describe("A part of the name, in any case; empty: all."),
    includeBuiltIn: queryBoolean(true).describe("Whether core agents are in the list."),
    ...pageFields,
  }),
  body: NO_BODY,
  responses: {
    200: { description: "A page of agents.", data: z.array(agentSchema), meta: pageMetaSchema },
  },
  handler: async ({ agents, largeAnswers, identity, call }, { query }) => {
    const { type, status, search, includeBuiltIn, limit, cursor } = query;
    const request = {
      type: type === undefined ? AgentType.UNSPECIFIED : AGENT_TYPES[type],
      status: status === undefined ? AgentStatus.UNSPECIFIED : AGENT_STATUSES[status],
      search,
      withoutCore: !includeBuiltIn,
      page: { limit, cursor },
    };
    const onOver = await largeAnswers.take(identity.companyId, ANSWER_BYTES, call.signal);
    try {
      const page = await agents.listAgents(request, call);
      return { status: 200, data: page.agents.map(agentJson), meta: pageMeta(page.page), onOver };
    } catch (error) {
      onOver();
      throw error;
    }
  },
});
