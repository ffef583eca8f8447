import { z } from "zod";
import { jsonObject } from "../fields.ts";

/** The types of agents. */
export const agentType = z
  .enum(["extraction", "content", "transform", "decision", "code", "classification", "custom"])
  .meta({
    id: "AgentType",
    description: "What an agent is for: for people and filters, it has no effect.",
  });

/** The statuses of agents. */
export const agentStatus = z.enum(["active", "deprecated"]).meta({
  id: "AgentStatus",
  description: "deprecated: it can be read for the record, and not be asked any more.",
});

/** The model that the agent asks. */
export const agentProvider = z.enum(["openai", "anthropic"]).meta({
  id: "AgentProvider",
  description: "The AI provider that is asked.",
});

const maxTokens = z
  .number()
  .refine(
    (count) => Number.isInteger(count) && count >= 1 && count <= 128_000,
    "must be a whole number from 1 to 128000",
  )
  .meta({ override: { type: "integer", minimum: 1, maximum: 128_000 }, examples: [4_096] });

const temperature = z.number().meta({ minimum: 0, maximum: 2, examples: [0.7] });

/** The service decides which providers and models exist. */
const provider = z.string().meta({ override: { enum: agentProvider.options } });

/** The fields of an agent in bodies of create and update; the service checks most limits. */
export const agentFields = {
  name: z
    .string()
    .describe("1 to 255 characters, of no other active agent of the company.")
    .meta({ minLength: 1, maxLength: 255, examples: ["Invoice reader"] }),
  description: z
    .string()
    .meta({ maxLength: 2_000 })
    .nullish()
    .describe("For people, at most 2,000 characters; null: none."),
  type: agentType,
  systemPrompt: z
    .string()
    .describe("What the model is told first, 1 to 100,000 characters.")
    .meta({
      minLength: 1,
      maxLength: 100_000,
      examples: ["You read invoices. Answer with number, date and total."],
    }),
  provider: provider
    .optional()
    .describe("Without it that of the model; for a new agent without either openai."),
  model: z.string().optional().describe("The one model that is offered of the provider."),
  outputSchema: jsonObject
    .nullish()
    .describe("JSON Schema that answers must fit, at most 64 KiB; null: answers are text.")
    .meta({ examples: [{ type: "object", properties: { total: { type: "number" } } }] }),
  temperature: temperature
    .optional()
    .describe("How freely the model words its answers, 0 to 2; 0.7 unless said otherwise."),
  maxTokens: maxTokens
    .optional()
    .describe("1 to 128,000, of one answer of the model; 4,096 unless said otherwise."),
};

/** The question for an agent; null means not given. The service checks limits. */
export const questionFields = {
  input: jsonObject
    .describe("What the agent works with: at most 1 MiB and 200 members.")
    .meta({ examples: [{ document: "Invoice 42, total 129.50" }] }),
  userMessage: optional(z.string().meta({ maxLength: 100_000 })).describe(
    "What it is told besides, at most 100,000 characters.",
  ),
};

/**
 * Settings that replace the agent's for one call; the service checks other limits. A misspelt
 * setting is refused, because the call would be paid for with the agent's own.
 */
export const agentOverrides = optional(
  z
    .strictObject(
      {
        temperature: optional(temperature).describe("0 to 2."),
        maxTokens: optional(maxTokens).describe("1 to 128,000, of one answer of the model."),
        model: optional(z.string()).describe(
          "The one model that is offered of the agent's provider.",
        ),
      },
      { error: nameUnknownMembers },
    )
    .meta({
      id: "AgentOverrides",
      description: "Settings in place of the agent's for one call.",
    }),
).describe("Settings in place of the agent's for this call.");

/** A field that may be missing or null; handlers see both as undefined. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

function nameUnknownMembers(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "unrecognized_keys") return undefined;
  return `has only temperature, maxTokens and model, not ${issue.keys.join(", ")}`;
}
