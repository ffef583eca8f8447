import { z } from "zod";
import { DEFINITION_LIMITS } from "./limits.ts";
import { retryPolicySchema } from "./retry-policy.ts";

/** The characters that every AI provider accepts in a tool's name. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

const toolSchema = z.looseObject({
  name: z
    .string()
    .regex(TOOL_NAME, "must be 1 to 64 letters, digits, underscores or hyphens")
    .meta({ description: "The tool's name; of a company's active workflows one may have it" }),
  description: z
    .string()
    .min(1)
    .max(2_000)
    .meta({ description: "What the tool does and when to use it, for the model that chooses" }),
});

/** The settings of D15; unknown keys are kept. Times are in milliseconds. */
export const settingsSchema = z.looseObject({
  timeoutMs: z
    .int()
    .min(1)
    .max(DEFINITION_LIMITS.timeoutMsMax)
    .default(3_600_000)
    .meta({ description: "How long a run may take, in milliseconds; waiting does not count" }),
  retry: retryPolicySchema
    .optional()
    .meta({ description: "For every action, email and agent step without a policy of its own" }),
  concurrency: z
    .looseObject({
      limit: z.int().min(1).max(10_000).meta({ description: "Runs of the workflow at one time" }),
      onLimit: z
        .enum(["queue", "skip"])
        .default("queue")
        .meta({ description: "Whether a run beyond the limit waits or is cancelled at once" }),
    })
    .optional()
    .meta({ description: "How many runs go on at one time; without it as many as are started" }),
  tags: z
    .array(z.string().min(1).max(64))
    .max(50)
    .optional()
    .meta({ description: "Words by which run lists find the workflow's runs" }),
  mcp: toolSchema
    .optional()
    .meta({ description: "Offers the active workflow to AI clients as a tool, at `/mcp`" }),
});

/** Settings as the caller sent them. */
export type Settings = z.input<typeof settingsSchema>;
/** Settings with their defaults applied. */
export type CompiledSettings = z.output<typeof settingsSchema>;
