import type { ScheduleInterval } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { ScheduleRow } from "../store/schedules.ts";
import { nextRunAt } from "./schedule-times.ts";

/** What a caller wants to change; undefined stays as it is. At most one of cron and interval is given. */
export interface ScheduleChange {
  cron?: string | undefined;
  interval?: ScheduleInterval | undefined;
  timezone?: string | undefined;
  enabled?: boolean | undefined;
}

/**
 * A schedule with a caller's changes (D23). Its intervals count from now when they are other ones, or
 * when it was disabled: a client that repeats its request must not put the next run off. Enabling it clears
 * earlier failures.
 *
 * @throws AppError WORKFLOW_NOT_ACTIVE when it is to be enabled while its workflow is paused: activation
 * enables it
 */
export function changeSchedule(
  current: ScheduleRow,
  change: ScheduleChange,
  now: Date,
): ScheduleRow {
  const { cron, interval, timezone = current.timezone, enabled = current.enabled } = change;
  if (change.enabled === true && !current.active) {
    throw new AppError(
      "WORKFLOW_NOT_ACTIVE",
      "The schedule of a paused workflow can't be enabled; activating the workflow does that.",
      { details: { currentStatus: "paused" } },
    );
  }
  const restarts = isOther(interval, current) || (enabled && !current.enabled);
  const changed: ScheduleRow = {
    ...current,
    ...(cron === undefined ? {} : { cron, intervalValue: null, intervalUnit: null }),
    ...(interval === undefined
      ? {}
      : { cron: null, intervalValue: interval.value, intervalUnit: interval.unit }),
    timezone,
    enabled,
    ...(restarts ? { anchor: now } : {}),
    ...(change.enabled === true ? { consecutiveFailures: 0, lastError: null } : {}),
    updatedAt: now,
  };
  return { ...changed, nextRunAt: nextRunAt(changed, now) };
}

function isOther(interval: ScheduleInterval | undefined, current: ScheduleRow): boolean {
  if (interval === undefined) return false;
  return interval.value !== current.intervalValue || interval.unit !== current.intervalUnit;
}
