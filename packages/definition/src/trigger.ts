import { oneOf } from "@workflow/catalog";
import type { Violation } from "@workflow/errors";
import { z } from "zod";
import { parseCron } from "./cron.ts";
import { DEFINITION_LIMITS } from "./limits.ts";
import { Problems } from "./problems.ts";
import { intervalMs } from "./schedule-times.ts";
import { canonicalTimeZone } from "./time-zone.ts";

/** The bound makes every firing a date that can be stored and shown. */
const INTERVAL_MS_MAX = 100 * 365 * 86_400_000;

const webhookTrigger = z.looseObject({
  type: z.literal("webhook"),
  provider: z.string().min(1).max(100).optional().meta({
    description:
      "Whose events start the workflow, such as stripe; without it those that come to its path",
  }),
  path: z.string().min(1).max(DEFINITION_LIMITS.webhookPathCharsMax).meta({
    description:
      "The end of the workflow's address; case does not count, and period, hyphen and underscore are alike",
  }),
});

/** The parts of a schedule that set its times; changes of a schedule are checked by them too (D23). */
const scheduleTimes = z.object({
  cron: z.string().superRefine(checkCron),
  interval: z
    .looseObject({
      value: z.int().min(1).max(1_000_000),
      unit: z.enum(["minutes", "hours", "days", "weeks"]),
    })
    .refine((interval) => intervalMs(interval) <= INTERVAL_MS_MAX, {
      path: ["value"],
      error: "must come to at most 100 years of 365 days",
    }),
  timezone: z.string().refine((name) => canonicalTimeZone(name) !== undefined, {
    error: "must be an IANA time zone such as Europe/Paris or UTC",
  }),
});

const scheduleTrigger = z
  .looseObject({
    type: z.literal("schedule"),
    cron: scheduleTimes.shape.cron
      .optional()
      .meta({ description: "Five fields, in the trigger's time zone" }),
    interval: scheduleTimes.shape.interval
      .optional()
      .meta({ description: "How long it is from one firing to the next" }),
    timezone: scheduleTimes.shape.timezone
      .default("UTC")
      .meta({ description: "IANA name of the time zone" }),
    enabled: z.boolean().default(true).meta({ description: "Whether it fires" }),
    input: z.record(z.string(), z.unknown()).optional().meta({
      description: "The input of every run that it starts; an empty object where none is given",
    }),
    overlap: z.enum(["allow", "skip"]).default("allow").meta({
      description: "Whether it starts a run while one that it started before goes on",
    }),
    catchUp: z.enum(["none", "last"]).default("none").meta({
      description: "Whether the last one of the firings that were missed is made up for",
    }),
  })
  .refine((trigger) => (trigger.cron === undefined) !== (trigger.interval === undefined), {
    error: "a schedule trigger has exactly one of cron and interval",
  })
  .meta({
    oneOf: [
      { properties: { cron: {} }, required: ["cron"] },
      { properties: { interval: {} }, required: ["interval"] },
    ],
  });

/** The changes of a data table's row. */
export const TABLE_EVENTS = ["row_created", "row_updated", "row_deleted"] as const;

export type TableEvent = (typeof TABLE_EVENTS)[number];

const TABLE_ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const tableTrigger = z.looseObject({
  type: z.literal("table"),
  tableId: z
    .string()
    .regex(TABLE_ID, { error: "must be the id of a table" })
    .meta({ description: "The table whose rows are meant" }),
  events: z
    .array(z.enum(TABLE_EVENTS))
    .refine((events) => events.length > 0 && events.length <= TABLE_EVENTS.length, {
      error: `must name 1 to ${TABLE_EVENTS.length} events; leave it out for all of them`,
    })
    .default([...TABLE_EVENTS])
    .meta({ description: "Which changes start a run; naming one twice means no more than once" }),
});

/** The triggers of D14 and D36 (changes of rows). Unknown keys are kept. */
export const triggerSchema = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("api") }),
    z.looseObject({ type: z.literal("manual") }),
    webhookTrigger,
    scheduleTrigger,
    tableTrigger,
  ],
  {
    error: (issue) =>
      issue.code === "invalid_union"
        ? `must be ${oneOf(['"api"', '"manual"', '"webhook"', '"schedule"', '"table"'])}`
        : undefined,
  },
);

const scheduleChange = scheduleTimes
  .partial()
  .refine((change) => change.cron === undefined || change.interval === undefined, {
    path: ["interval"],
    error: "can't be given together with cron",
  });

/**
 * The canonical spelling of a webhook trigger's path: case is ignored; period, hyphen and underscore are one
 * character. Spellings are stored, so this rule never changes.
 */
export function foldWebhookPath(path: string): string {
  return path.toLowerCase().replaceAll(/[._]/g, "-");
}

/** New times of a schedule, or their problems. */
export type ScheduleChangeResult =
  { ok: true; change: z.output<typeof scheduleChange> } | { ok: false; violations: Violation[] };

/** Checks a caller's change of a schedule's times; absent members keep their value (D23). */
export function parseScheduleChange(input: {
  cron?: unknown;
  interval?: unknown;
  timezone?: unknown;
}): ScheduleChangeResult {
  const problems = new Problems();
  const change = problems.parse(scheduleChange, input, []);
  return change === undefined
    ? { ok: false, violations: problems.violations }
    : { ok: true, change };
}

/** A trigger as the caller sent it. */
export type Trigger = z.input<typeof triggerSchema>;
/** A trigger with its defaults applied. */
export type CompiledTrigger = z.output<typeof triggerSchema>;

function checkCron(text: string, context: z.RefinementCtx): void {
  const result = parseCron(text);
  if (!result.ok) context.addIssue({ code: "custom", message: result.message });
}
