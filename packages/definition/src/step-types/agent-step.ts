import { z } from "zod";
import { fieldsOf, pickOwn } from "../step.ts";
import { compileTemplates } from "../template.ts";
import { templatable } from "../zod-messages.ts";
import type { StepType } from "./step-type.ts";

const QUESTION_KEYS = ["agentId", "input", "userMessage", "overrides"] as const;
/** The tokens of one answer of a model (D43). */
const MAX_TOKENS_MAX = 128_000;

const configSchema = z.looseObject({
  agentId: z.string().min(1).meta({
    description: "The agent to ask: a core agent's id, one of the company's, or a template",
  }),
  input: templatable(z.record(z.string(), z.unknown())).meta({
    description:
      "What the agent works on, an object; it reaches the model as data, apart from what the model is told to do",
  }),
  userMessage: z.string().optional().meta({
    description: "What the agent is told beside its system prompt; at most 100,000 characters",
  }),
  overrides: templatable(
    z.looseObject({
      temperature: templatable(z.number().min(0).max(2)).optional(),
      maxTokens: templatable(z.int().min(1).max(MAX_TOKENS_MAX)).optional(),
      model: z.string().min(1).optional(),
    }),
  )
    .optional()
    .meta({
      description:
        "Replaces settings of the agent for this call; the model has to be that of the agent's provider",
    }),
});

/** Asks an AI agent (D17). */
export const agentStep: StepType = {
  type: "agent",
  title: "Agent",
  description:
    "Asks an AI agent. The output is its answer: JSON that fits the agent's output schema, or a text where it has none. " +
    "Failures of the AI provider are tried again by the step's retry policy; an answer that is recorded is never asked for again.",
  configSchema,
  inheritsRetry: true,

  check({ config }, stepPath, problems) {
    problems.parse(configSchema, config, [...stepPath, "config"]);
  },

  blocks: () => [],
  templateFields: ({ config }) => fieldsOf(config, QUESTION_KEYS),

  compile({ config }, base) {
    return { ...base, type: "agent", question: compileTemplates(pickOwn(config, QUESTION_KEYS)) };
  },
};
