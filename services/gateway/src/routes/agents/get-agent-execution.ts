import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { executionJson } from "./execution-json.ts";
import { executionSchema } from "./execution-schema.ts";

/** An input, an output and an escaped raw output of 1 MiB each. */
const ANSWER_BYTES = 4 * 1024 * 1024;

export const getAgentExecution = route({
  method: "GET",
  path: "/agents/{id}/executions/{executionId}",
  scope: "runs:read",
  bucket: "read",
  summary: "Get an execution of an agent",
  description: [
    "The answer has all of it: input, output, raw output and tokens.",
    "Secrets are masked in what was recorded.",
  ],
  params: { id: "The agent's id.", executionId: "The execution's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The execution.", data: executionSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ agents, largeAnswers, identity, call }, { params }) => {
    const { id: agentId, executionId } = params;
    const onOver = await largeAnswers.take(identity.companyId, ANSWER_BYTES, call.signal);
    try {
      const execution = await agents.getAgentExecution({ agentId, executionId }, call);
      return { status: 200, data: executionJson(execution), onOver };
    } catch (error) {
      onOver();
      throw error;
    }
  },
});
