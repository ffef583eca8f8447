import { z } from "zod";
import { namesOf, prefixedId, timeText, uuidText } from "../answer-schemas.ts";
import { runIdSchema } from "../runs/run-schema.ts";
import { INTERVAL_UNITS } from "./schedule-json.ts";

const scheduleIdSchema = prefixedId("sched_").describe("The schedule's id.");

const nextRunAtSchema = timeText
  .nullable()
  .describe("When it fires next; null while it is disabled.");

const count = z
  .int()
  .min(0)
  .meta({ examples: [0] });

/** A workflow's schedule. */
export const scheduleSchema = z
  .strictObject({
    id: scheduleIdSchema,
    workflowId: uuidText.describe("The workflow's id."),
    triggerScheduleId: prefixedId("timer_").describe("What the task runtime calls it."),
    scheduleType: z
      .enum(["cron", "interval"])
      .describe("Which of cronExpression and interval says when it fires; the other one is null."),
    cronExpression: z
      .string()
      .nullable()
      .describe("Five fields, in its time zone.")
      .meta({ examples: ["0 8 * * 1-5"] }),
    interval: z
      .strictObject({
        value: z
          .int()
          .min(1)
          .meta({ examples: [15] }),
        unit: namesOf(INTERVAL_UNITS).meta({ examples: ["minutes"] }),
      })
      .nullable()
      .describe("How long it is from one firing to the next."),
    timezone: z
      .string()
      .describe("IANA name.")
      .meta({ examples: ["Europe/Paris"] }),
    enabled: z.boolean().describe("Whether it fires."),
    nextRunAt: nextRunAtSchema,
    lastRunAt: timeText.nullable().describe("When it last started a run; null before the first."),
    lastRunId: runIdSchema
      .nullable()
      .describe("The run that it last started; null before the first."),
    runCount: count.describe("How many runs it has started."),
    consecutiveFailures: count.describe(
      "How many of its runs ended failed or timeout since one completed; 10 disable it.",
    ),
    lastError: z
      .string()
      .nullable()
      .describe("Why it last started no run, or was disabled; null where nothing is wrong.")
      .meta({ examples: [null] }),
    createdAt: timeText,
    updatedAt: timeText,
  })
  .meta({ id: "Schedule", description: "When a workflow is run, and what that has come to." });

/** The answer to a change of a schedule. */
export const updatedScheduleSchema = z
  .strictObject({
    updated: z.literal(true),
    scheduleId: scheduleIdSchema,
    nextRunAt: nextRunAtSchema,
  })
  .meta({ id: "UpdatedSchedule", description: "A schedule that was changed." });
