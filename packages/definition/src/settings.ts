import { z } from "zod";
import { DEFINITION_LIMITS } from "./limits.ts";
import { retryPolicySchema } from "./retry-policy.ts";

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
});

/** Settings as the caller sent them. */
export type Settings = z.input<typeof settingsSchema>;
/** Settings with their defaults applied. */
export type CompiledSettings = z.output<typeof settingsSchema>;
