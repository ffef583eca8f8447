import { z } from "zod";
import { rawOrNull } from "../../http/write-json.ts";
import { NO_QUERY, route } from "../../route.ts";
import { agentOverrides, questionFields } from "./agent-fields.ts";
import {
  agentErrorJson,
  QUESTION_BYTES_MAX,
  QUESTION_TIMEOUT_MS,
  usageJson,
} from "./execution-json.ts";
import { testAnswerSchema } from "./execution-schema.ts";

export const testAgent = route({
  method: "POST",
  path: "/agents/{id}/test",
  scope: "workflows:execute",
  bucket: "execute",
  // A test changes nothing and leaves no record.
  audit: null,
  summary: "Try out an agent",
  description: [
    "The agent is asked once, and nothing is recorded; the tokens count all the same.",
    "An answer that does not fit the schema is still 200, with `schemaValid: false` and an `error`.",
    "Core agents cannot be tested this way: BAD_REQUEST.",
    "A provider that gives no answer is 502 UPSTREAM_ERROR; a day's tokens that are used up are RATE_LIMITED with `details.limit` `agentTokens`.",
  ],
  params: { id: "The agent's id." },
  query: NO_QUERY,
  body: {
    schema: z
      .object({ ...questionFields, overrides: agentOverrides })
      .meta({ id: "AgentTestQuestion", description: "What an agent is asked for a test." }),
    bytesMax: QUESTION_BYTES_MAX,
  },
  responses: {
    200: {
      description: "The answer, whether or not it fits the agent's output schema.",
      data: testAnswerSchema,
    },
  },
  errors: ["NOT_FOUND", "NOT_CONFIGURED", "UPSTREAM_ERROR"],
  endsWithClient: true,
  handler: async ({ agents, call }, { params, body, rawJson }) => {
    const answer = await agents.testAgent(
      {
        agentId: params.id,
        inputJson: rawJson("input") ?? "{}",
        userMessage: body.userMessage,
        overrides: body.overrides,
      },
      { ...call, timeoutMs: QUESTION_TIMEOUT_MS },
    );
    return {
      status: 200,
      data: {
        output: rawOrNull(answer.outputJson),
        rawOutput: answer.rawOutput,
        usage: usageJson(answer.usage),
        durationMs: answer.durationMs,
        finishReason: answer.finishReason,
        schemaValid: answer.schemaValid,
        repairAttempts: answer.repairAttempts,
        warnings: answer.warnings,
        error: agentErrorJson(answer.error),
      },
    };
  },
});
