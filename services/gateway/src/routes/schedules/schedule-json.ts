import { IntervalUnit } from "@workflow/proto/runs/v1/schedules";
import type { Schedule } from "@workflow/proto/runs/v1/schedules";
import type { Writable } from "../../http/write-json.ts";

/** The units of an interval by their names in the REST contract. */
export const INTERVAL_UNITS = {
  minutes: IntervalUnit.MINUTES,
  hours: IntervalUnit.HOURS,
  days: IntervalUnit.DAYS,
  weeks: IntervalUnit.WEEKS,
} as const;

const UNIT_NAMES = new Map<IntervalUnit, string>(
  Object.entries(INTERVAL_UNITS).map(([name, unit]) => [unit, name]),
);

/** A schedule as the contract shows it. */
export function scheduleJson(schedule: Schedule): Writable {
  const { cron, interval } = schedule;
  return {
    id: schedule.id,
    workflowId: schedule.workflowId,
    triggerScheduleId: schedule.triggerScheduleId,
    scheduleType: interval === undefined ? "cron" : "interval",
    cronExpression: cron ?? null,
    interval:
      interval === undefined
        ? null
        : { value: interval.value, unit: UNIT_NAMES.get(interval.unit) ?? "unknown" },
    timezone: schedule.timezone,
    enabled: schedule.enabled,
    nextRunAt: schedule.nextRunAt ?? null,
    lastRunAt: schedule.lastRunAt ?? null,
    lastRunId: schedule.lastRunId === "" ? null : schedule.lastRunId,
    runCount: schedule.runCount,
    consecutiveFailures: schedule.consecutiveFailures,
    lastError: schedule.lastError ?? null,
    createdAt: schedule.createdAt ?? null,
    updatedAt: schedule.updatedAt ?? null,
  };
}
