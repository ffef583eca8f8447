import { z } from "zod";
import { parseCron } from "./cron.ts";
import { DEFINITION_LIMITS } from "./limits.ts";
import { oneOf } from "./zod-messages.ts";

const webhookTrigger = z.looseObject({
  type: z.literal("webhook"),
  provider: z.string().min(1).max(100).optional(),
  path: z.string().min(1).max(DEFINITION_LIMITS.webhookPathCharsMax),
});

const scheduleTrigger = z
  .looseObject({
    type: z.literal("schedule"),
    /** Five fields, in the trigger's time zone. */
    cron: z.string().superRefine(checkCron).optional(),
    interval: z
      .looseObject({
        value: z.int().min(1).max(1_000_000),
        unit: z.enum(["minutes", "hours", "days", "weeks"]),
      })
      .optional(),
    timezone: z
      .string()
      .refine(isTimeZone, { error: "must be an IANA time zone such as Europe/Paris or UTC" })
      .default("UTC"),
    enabled: z.boolean().default(true),
    /** Given to every run that the schedule starts, beside scheduledAt and scheduleId. */
    input: z.record(z.string(), z.unknown()).optional(),
    overlap: z.enum(["allow", "skip"]).default("allow"),
    catchUp: z.enum(["none", "last"]).default("none"),
  })
  .refine((trigger) => (trigger.cron === undefined) !== (trigger.interval === undefined), {
    error: "a schedule trigger has exactly one of cron and interval",
  });

/** The triggers of D14; unknown keys are kept. */
export const triggerSchema = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("api") }),
    z.looseObject({ type: z.literal("manual") }),
    webhookTrigger,
    scheduleTrigger,
  ],
  {
    error: (issue) =>
      issue.code === "invalid_union"
        ? `must be ${oneOf(['"api"', '"manual"', '"webhook"', '"schedule"'])}`
        : undefined,
  },
);

/** A trigger as the caller sent it. */
export type Trigger = z.input<typeof triggerSchema>;
/** A trigger with its defaults applied. */
export type CompiledTrigger = z.output<typeof triggerSchema>;

function checkCron(text: string, context: z.RefinementCtx): void {
  const result = parseCron(text);
  if (!result.ok) context.addIssue({ code: "custom", message: result.message });
}

/** Intl also knows fixed offsets such as "+02:00", which no daylight saving time follows. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
