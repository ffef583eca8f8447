import { z } from "zod";
import { jsonObject } from "../fields.ts";

/** What an agent is for. */
export const agentType = z.enum([
  "extraction",
  "content",
  "transform",
  "decision",
  "code",
  "classification",
  "custom",
]);

/** Whether an agent can be asked. */
export const agentStatus = z.enum(["active", "deprecated"]);

const maxTokens = z
  .number()
  .refine(
    (count) => Number.isInteger(count) && count >= 1 && count <= 128_000,
    "must be a whole number from 1 to 128000",
  );

/** The fields of an agent in bodies of create and update; most limits are the service's to judge. */
export const agentFields = {
  name: z.string().describe("1 to 255 characters, of no other active agent of the company."),
  description: z.string().nullish().describe("At most 2,000 characters."),
  type: agentType,
  systemPrompt: z.string().describe("1 to 100,000 characters."),
  provider: z.string().optional().describe("openai or anthropic."),
  model: z.string().optional().describe("The one model that is offered of the provider."),
  outputSchema: jsonObject.nullish().describe("JSON Schema that answers must fit, at most 64 KiB."),
  temperature: z.number().optional().describe("0 to 2."),
  maxTokens: maxTokens.optional().describe("1 to 128,000, of one answer of the model."),
};

/** What an agent is asked; null is as good as nothing given. Limits are the service's to judge. */
export const questionFields = {
  input: jsonObject.describe("What the agent works with, at most 1 MiB."),
  userMessage: optional(z.string()).describe(
    "What it is told besides, at most 100,000 characters.",
  ),
};

/**
 * Settings in place of the agent's for one call; other limits are the service's to judge. A misspelt one is
 * refused: the call would otherwise be paid for with other settings than it names.
 */
export const agentOverrides = optional(
  z.strictObject(
    {
      temperature: optional(z.number()).describe("0 to 2."),
      maxTokens: optional(maxTokens).describe("1 to 128,000, of one answer of the model."),
      model: optional(z.string()).describe(
        "The one model that is offered of the agent's provider.",
      ),
    },
    { error: nameUnknownMembers },
  ),
);

/** A field that may be missing or null, which handlers see as undefined. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

function nameUnknownMembers(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "unrecognized_keys") return undefined;
  return `has only temperature, maxTokens and model, not ${issue.keys.join(", ")}`;
}
