import { z } from "zod";

const DELAY_MS_MAX = 24 * 3_600_000;
const MAX_DELAY_MS_DEFAULT = 60_000;

/** The RetryPolicy of D15. `maxAttempts` includes the first attempt, so 1 means no retry. */
export const retryPolicySchema = z
  .looseObject({
    maxAttempts: z
      .int()
      .min(1)
      .max(10)
      .meta({ description: "Attempts in all, the first one included" }),
    backoff: z
      .enum(["fixed", "exponential"])
      .default("exponential")
      .meta({ description: "Whether each wait is as long as the first or twice the one before" }),
    delayMs: z
      .int()
      .min(0)
      .max(DELAY_MS_MAX)
      .default(1_000)
      .meta({ description: "Wait before the second attempt, in milliseconds" }),
    maxDelayMs: z.int().min(0).max(DELAY_MS_MAX).optional().meta({
      description:
        "Longest wait, in milliseconds; a minute, or delayMs where that is longer, when it is not given",
    }),
    jitter: z.boolean().default(true).meta({
      description:
        "Whether a wait is shortened at random by up to a half, so that callers don't come in step",
    }),
  })
  .refine((policy) => policy.maxDelayMs === undefined || policy.maxDelayMs >= policy.delayMs, {
    path: ["maxDelayMs"],
    error: "must be at least delayMs",
  });

/** A retry policy with its defaults applied. */
export type RetryPolicy = z.infer<typeof retryPolicySchema>;

/**
 * The pause in milliseconds after the failed attempt of this number (1 is the first). The caller decides
 * whether another attempt is due: `attempt < policy.maxAttempts`.
 *
 * @param random gives numbers from 0 up to 1; called only for a policy with jitter
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, random: () => number): number {
  const cap = policy.maxDelayMs ?? Math.max(MAX_DELAY_MS_DEFAULT, policy.delayMs);
  const factor = policy.backoff === "exponential" ? 2 ** Math.max(0, attempt - 1) : 1;
  const delayMs = Math.min(policy.delayMs * factor, cap);
  return Math.round(policy.jitter ? delayMs * (1 - random() / 2) : delayMs);
}
