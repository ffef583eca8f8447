import { z } from "zod";
import { fieldsOf } from "../step.ts";
import { compileOptional, compileTemplates } from "../template.ts";
import { templatable } from "../zod-messages.ts";
import type { StepType } from "./step-type.ts";

const configSchema = z.looseObject({
  agentId: z.string().min(1).meta({ description: "The agent to ask, or a template" }),
  input: templatable(z.record(z.string(), z.unknown())).meta({
    description: "What the agent works on, an object",
  }),
  userMessage: z
    .string()
    .optional()
    .meta({ description: "What the agent is told beside its system prompt" }),
  overrides: templatable(
    z.looseObject({
      temperature: templatable(z.number().min(0).max(2)).optional(),
      maxTokens: templatable(z.int().min(1)).optional(),
      model: z.string().min(1).optional(),
    }),
  )
    .optional()
    .meta({ description: "Replaces settings of the agent for this call" }),
});

/** Asks an AI agent (D17). */
export const agentStep: StepType = {
  type: "agent",
  title: "Agent",
  description: "Asks an AI agent. The output is what the agent answers.",
  configSchema,
  inheritsRetry: true,

  check({ config }, stepPath, problems) {
    problems.parse(configSchema, config, [...stepPath, "config"]);
  },

  blocks: () => [],
  templateFields: ({ config }) =>
    fieldsOf(config, ["agentId", "input", "userMessage", "overrides"]),

  compile({ config }, base) {
    const { agentId, input, userMessage, overrides } = config;
    return {
      ...base,
      type: "agent",
      agentId: compileTemplates(agentId),
      input: compileTemplates(input),
      userMessage: compileOptional(userMessage),
      overrides: compileOptional(overrides),
    };
  },
};
