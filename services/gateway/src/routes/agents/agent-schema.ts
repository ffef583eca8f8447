import { z } from "zod";
import { anyObject, timeText, wholeNumber } from "../answer-schemas.ts";
import { agentProvider, agentStatus, agentType } from "./agent-fields.ts";

/** The id of an agent. */
export const agentIdSchema = z
  .string()
  .describe(
    "The agent's id: a UUID, or that of a core agent (agent_extraction, agent_content, agent_transform, agent_decision).",
  )
  .meta({ examples: ["0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a"] });

/** An agent. */
export const agentSchema = z
  .strictObject({
    id: agentIdSchema,
    name: z
      .string()
      .describe("1 to 255 characters, of no other active agent of the company.")
      .meta({ examples: ["Invoice reader"] }),
    description: z
      .string()
      .nullable()
      .describe("For people; null: none.")
      .meta({ examples: ["Reads what suppliers send"] }),
    type: agentType,
    scope: z
      .enum(["global", "company"])
      .describe("global: a core agent, which all companies have and none can change."),
    status: agentStatus,
    provider: agentProvider,
    model: z
      .string()
      .describe("The one model that this installation offers of the provider.")
      .meta({ examples: ["gpt-5.5"] }),
    systemPrompt: z
      .string()
      .describe("What the model is told first.")
      .meta({ examples: ["You read invoices. Answer with number, date and total."] }),
    outputSchema: anyObject
      .nullable()
      .describe("JSON Schema that answers must fit; null: answers are text.")
      .meta({ examples: [{ type: "object", properties: { total: { type: "number" } } }] }),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .describe("How freely the model words its answers.")
      .meta({
        examples: [0.7],
      }),
    maxTokens: z
      .int()
      .min(1)
      .max(128_000)
      .describe("Of one answer of the model.")
      .meta({ examples: [4_096] }),
    version: z.int().min(1).describe("1 for a new agent, one more with each update."),
    createdAt: timeText,
    updatedAt: timeText,
  })
  .meta({
    id: "Agent",
    description: "An agent: what a model is told, and the settings with which it is asked.",
  });

/** The tokens of all attempts. */
export const usageSchema = z
  .strictObject({
    inputTokens: wholeNumber.describe("Read.").meta({ examples: [812] }),
    outputTokens: wholeNumber.describe("Written, thinking included.").meta({ examples: [64] }),
    totalTokens: wholeNumber.describe("Both.").meta({ examples: [876] }),
  })
  .meta({
    id: "AgentUsage",
    description: "Tokens of all attempts together, as the provider counts them.",
  });

/** The reason why there is no output. */
export const agentErrorSchema = z
  .strictObject({
    code: z
      .string()
      .describe("A code that begins with AGENT_, see the page of errors.")
      .meta({ examples: ["AGENT_OUTPUT_INVALID"] }),
    message: z
      .string()
      .describe("What is wrong, for people.")
      .meta({ examples: ["The answer does not fit the output schema."] }),
    details: anyObject.nullable().describe("What else is known of it; null: nothing."),
  })
  .meta({ id: "AgentError", description: "Why an agent has given no output." });
