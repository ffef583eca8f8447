import { z } from "zod";
import { DEFINITION_LIMITS } from "./limits.ts";
import { retryPolicySchema } from "./retry-policy.ts";

/** The settings of D15; unknown keys are kept. Times are in milliseconds. */
export const settingsSchema = z.looseObject({
  timeoutMs: z.int().min(1).max(DEFINITION_LIMITS.timeoutMsMax).default(3_600_000),
  /** For every step that has no policy of its own. */
  retry: retryPolicySchema.optional(),
  concurrency: z
    .looseObject({
      /** Runs of the workflow at one time. */
      limit: z.int().min(1).max(10_000),
      onLimit: z.enum(["queue", "skip"]).default("queue"),
    })
    .optional(),
  tags: z.array(z.string().min(1).max(64)).max(50).optional(),
});

/** Settings as the caller sent them. */
export type Settings = z.input<typeof settingsSchema>;
/** Settings with their defaults applied. */
export type CompiledSettings = z.output<typeof settingsSchema>;
