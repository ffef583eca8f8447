import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { agentOverrides, optional, questionFields } from "./agent-fields.ts";
import { executionJson, QUESTION_BYTES_MAX, QUESTION_TIMEOUT_MS } from "./execution-json.ts";
import { executionSchema } from "./execution-schema.ts";

export const executeAgent = route({
  method: "POST",
  path: "/agents/{id}/execute",
  scope: "workflows:execute",
  bucket: "execute",
  // The execution is its own record, as a run is (D51).
  audit: null,
  summary: "Ask an agent",
  description: [
    "The question, the answer and the tokens are recorded as an execution, which is the answer.",
    "Where the output does not fit the schema after two repairs, the answer is 200 with `status: failed`.",
    "A provider that gives no answer is 502 UPSTREAM_ERROR with the `executionId`; a day's tokens that are used up are RATE_LIMITED with `details.limit` `agentTokens`.",
    "A client that goes away cancels the question; after four minutes it ends by itself.",
    "A repeated request asks, and is paid for, once more.",
  ],
  params: { id: "The agent's id." },
  query: NO_QUERY,
  body: {
    schema: z
      .object({
        ...questionFields,
        workflowRunId: optional(z.string().meta({ maxLength: 128 })).describe(
          "The run on whose behalf, at most 128 characters; only kept.",
        ),
        overrides: agentOverrides,
      })
      .meta({ id: "AgentQuestion", description: "What an agent is asked." }),
    bytesMax: QUESTION_BYTES_MAX,
  },
  responses: {
    200: {
      description: "The execution, which has failed where the answer does not fit.",
      data: executionSchema,
    },
  },
  errors: ["NOT_FOUND", "NOT_CONFIGURED", "UPSTREAM_ERROR"],
  endsWithClient: true,
  handler: async ({ agents, call }, { params, body, rawJson }) => {
    const execution = await agents.executeAgent(
      {
        agentId: params.id,
        inputJson: rawJson("input") ?? "{}",
        userMessage: body.userMessage,
        workflowRunId: body.workflowRunId,
        overrides: body.overrides,
      },
      { ...call, timeoutMs: QUESTION_TIMEOUT_MS },
    );
    return { status: 200, data: executionJson(execution) };
  },
});
