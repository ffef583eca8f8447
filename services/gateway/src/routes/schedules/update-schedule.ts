import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { INTERVAL_UNITS } from "./schedule-json.ts";
import { updatedScheduleSchema } from "./schedule-schema.ts";
import { namesOf } from "../answer-schemas.ts";

const VALUE_MAX = 1_000_000;
const valueMessage = `must be a whole number from 1 to ${VALUE_MAX}`;

export const updateSchedule = route({
  method: "PUT",
  path: "/workflows/{id}/schedule",
  scope: "workflows:write",
  bucket: "write",
  audit: "schedule.updated",
  summary: "Change the schedule of a workflow",
  description: [
    "What is left out stays; `cron` takes the place of an interval and the other way round.",
    "`enabled: false` keeps the schedule from firing.",
    "The workflow's definition is not touched, and its next activation with another trigger replaces the schedule.",
    "A wrong expression or time zone is refused, and enabling it while the workflow is paused is WORKFLOW_NOT_ACTIVE.",
  ],
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: {
    optional: true,
    schema: z
      .object({
        cron: z
          .string()
          .optional()
          .describe("Five fields, in the schedule's time zone; a pattern that fires at some time.")
          .meta({ examples: ["0 8 * * 1-5"] }),
        interval: z
          .object({
            value: z
              .number()
              .refine(isValue, valueMessage)
              .describe(`A whole number; with its unit 100 years at most.`)
              .meta({ override: { type: "integer", minimum: 1, maximum: VALUE_MAX } }),
            unit: namesOf(INTERVAL_UNITS),
          })
          .optional()
          .describe("How long it is from one firing to the next; not together with cron.")
          .meta({ examples: [{ value: 15, unit: "minutes" }] }),
        timezone: z
          .string()
          .optional()
          .describe("IANA name of the time zone.")
          .meta({ examples: ["Europe/Paris"] }),
        enabled: z
          .boolean()
          .optional()
          .describe(
            "Whether it fires; true forgets earlier failures, and needs an active workflow.",
          ),
      })
      .meta({ id: "ScheduleUpdate", description: "What to change about a schedule." }),
  },
  responses: {
    200: {
      description: "The schedule is changed; its next firing is the one shown.",
      data: updatedScheduleSchema,
    },
  },
  errors: ["NOT_FOUND", "WORKFLOW_NOT_ACTIVE"],
  handler: async ({ schedules, call }, { params, body }) => {
    const { cron, interval, timezone, enabled } = body;
    const schedule = await schedules.updateSchedule(
      {
        workflowId: params.id,
        cron,
        interval:
          interval === undefined
            ? undefined
            : { value: interval.value, unit: INTERVAL_UNITS[interval.unit] },
        timezone,
        enabled,
      },
      call,
    );
    return {
      status: 200,
      data: { updated: true, scheduleId: schedule.id, nextRunAt: schedule.nextRunAt ?? null },
    };
  },
});

function isValue(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= VALUE_MAX;
}
