import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { INTERVAL_UNITS } from "./schedule-json.ts";

const VALUE_MAX = 1_000_000;
const valueMessage = `must be a whole number from 1 to ${VALUE_MAX}`;

export const updateSchedule = route({
  method: "PUT",
  path: "/workflows/{id}/schedule",
  scope: "workflows:write",
  bucket: "write",
  audit: "schedule.updated",
  summary: "Change when a workflow's schedule fires, or whether it does",
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: {
    optional: true,
    schema: z.object({
      cron: z.string().optional(),
      interval: z
        .object({
          value: z.number().refine(isValue, valueMessage),
          unit: z.enum(["minutes", "hours", "days", "weeks"]),
        })
        .optional(),
      timezone: z.string().optional(),
      enabled: z.boolean().optional(),
    }),
  },
  responses: { 200: "The schedule is changed; its next firing is the one shown." },
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
