import { z } from "zod";
import {
  anyJson,
  anyObject,
  namesOf,
  prefixedId,
  timeText,
  wholeNumber,
} from "../answer-schemas.ts";
import { agentProvider } from "./agent-fields.ts";
import { agentErrorSchema, agentIdSchema, usageSchema } from "./agent-schema.ts";
import { EXECUTION_STATUSES } from "./execution-json.ts";

const FINISH_REASONS = [
  "stop",
  "length",
  "content-filter",
  "tool-calls",
  "error",
  "other",
] as const;

const errorFields = agentErrorSchema.shape;
const finishReason = z
  .enum(FINISH_REASONS)
  .describe("Why the model's last answer ended: `length` at maxTokens.");
const schemaValid = z
  .boolean()
  .describe("Whether the answer fits the output schema; true where the agent has none.");
const output = anyJson.meta({ examples: [{ total: 129.5 }] });
const repairAttempts = z
  .int()
  .min(0)
  .max(2)
  .describe("How often the model was told what is wrong with its answer, and asked again.");
const warnings = z
  .array(z.string())
  .describe("Settings of the agent that the model does not know and was not sent, for people.");

const executionFacts = {
  provider: agentProvider,
  model: z
    .string()
    .describe("The model that was asked.")
    .meta({ examples: ["gpt-5.5"] }),
  usage: usageSchema,
  durationMs: wholeNumber
    .nullable()
    .describe("All attempts together, in milliseconds; null while it runs."),
  finishReason: finishReason
    .nullable()
    .describe("Why the model's last answer ended: `length` at maxTokens; null without an answer."),
  schemaValid: schemaValid
    .nullable()
    .describe(
      "Whether the answer fits the output schema, true where the agent has none; null without an answer.",
    ),
  repairAttempts,
  warnings,
  workflowRunId: z
    .string()
    .nullable()
    .describe("The run on whose behalf the agent was asked, as it was named; null: none was.")
    .meta({ examples: ["run_01kg9d1kzcexw9f1c3f4r7m2qa"] }),
};

const executionHead = {
  id: prefixedId("aex_").describe("The execution's id."),
  agentId: agentIdSchema,
  agentVersion: z.int().min(1).describe("The agent's version at the time."),
  status: namesOf(EXECUTION_STATUSES)
    .describe("failed: there is no output, see `error`. cancelled: the caller gave up.")
    .meta({ examples: ["completed"] }),
};

/** An execution in a list. */
export const listedExecutionSchema = z
  .strictObject({
    ...executionHead,
    ...executionFacts,
    error: z
      .strictObject({ code: errorFields.code, message: errorFields.message })
      .meta({ id: "ListedAgentError", description: "Why there is no output, in short." })
      .nullable()
      .describe("Why there is no output, without its details; null: there is one."),
    createdAt: timeText.describe("When it began."),
  })
  .meta({
    id: "ListedAgentExecution",
    description: "A question to an agent and what came of it, without what may be large.",
  });

/** A whole execution. */
export const executionSchema = z
  .strictObject({
    ...executionHead,
    input: anyObject
      .nullable()
      .describe("What the agent worked with, secrets masked.")
      .meta({ examples: [{ document: "Invoice 42, total 129.50" }] }),
    userMessage: z.string().nullable().describe("What it was told besides; null: nothing."),
    output: output.describe(
      "The answer: JSON that fits the output schema, a text where the agent has none; null: there is none, see `error`.",
    ),
    rawOutput: z
      .string()
      .nullable()
      .describe("The model's last answer word by word, at most 1 MiB; null without an answer.")
      .meta({ examples: ['{"total":129.5}'] }),
    ...executionFacts,
    error: agentErrorSchema.nullable().describe("Why there is no output; null: there is one."),
    createdAt: timeText.describe("When it began."),
  })
  .meta({ id: "AgentExecution", description: "A question to an agent and what came of it." });

/** The answer of a test. */
export const testAnswerSchema = z
  .strictObject({
    output: output.describe(
      "The answer: JSON that fits the output schema, a text where the agent has none; null: it does not fit, see `error`.",
    ),
    rawOutput: z
      .string()
      .describe("The model's last answer word by word, at most 1 MiB.")
      .meta({ examples: ['{"total":129.5}'] }),
    usage: usageSchema,
    durationMs: wholeNumber.describe("All attempts together, in milliseconds."),
    finishReason,
    schemaValid,
    repairAttempts,
    warnings,
    error: agentErrorSchema.nullable().describe("Why there is no output; null: there is one."),
  })
  .meta({ id: "AgentTestAnswer", description: "What an agent has answered, without a record." });

const caseResultSchema = z
  .strictObject({
    name: z.string().nullable().describe("As given; null: the case has no name."),
    passed: z.boolean().describe("Whether the output is as expected."),
    reason: z.string().nullable().describe("Why it has not passed, for people; null: it has."),
    output: output.describe("The answer; null: there is none, see `error`."),
    schemaValid: schemaValid
      .nullable()
      .describe("Whether the answer fits the agent's own output schema; null without an answer."),
    usage: usageSchema,
    durationMs: wholeNumber.describe("All attempts of this case, in milliseconds."),
    error: agentErrorSchema.nullable().describe("Why there is no output; null: there is one."),
  })
  .meta({ id: "AgentCaseResult", description: "What came of one case." });

/** The results of all cases. */
export const evaluationSchema = z
  .strictObject({
    agentId: agentIdSchema,
    agentVersion: z.int().min(1).describe("The version that was judged."),
    passed: wholeNumber.describe("How many cases have passed."),
    failed: wholeNumber.describe("How many have not."),
    total: wholeNumber.describe("How many cases there were."),
    results: z.array(caseResultSchema).describe("In the order of the request."),
    usage: usageSchema,
    durationMs: wholeNumber.describe("All cases together, in milliseconds."),
  })
  .meta({ id: "AgentEvaluation", description: "How an agent has answered, case by case." });
