import { latestFiring, nextFiring } from "@workflow/definition";
import type { ScheduleInterval, Timetable } from "@workflow/definition";
import type { ScheduleRow } from "../store/schedules.ts";

/**
 * A firing that comes later than this was missed: nothing was there to fire it. Less than the shortest
 * period, a minute, so that a schedule of every minute can tell the two as well.
 */
const LATE_MS_MAX = 10_000;

/** What a schedule says of its times. */
export type ScheduleTimes = Pick<
  ScheduleRow,
  "cron" | "interval_value" | "interval_unit" | "timezone" | "anchor"
>;

/** When a schedule fires next; null while it is disabled or its workflow not active. */
export function nextRunAt(
  row: ScheduleTimes & Pick<ScheduleRow, "enabled" | "active">,
  now: Date,
): Date | null {
  return row.enabled && row.active ? nextFiring(timetableOf(row), now, row.anchor) : null;
}

/** What is to be done about a schedule that is due. */
export interface FiringPlan {
  /** The moment for which it fires; null when that was missed and is not made up for. */
  scheduledAt: Date | null;
  nextRunAt: Date | null;
}

/**
 * Plans the firing of a schedule that is due. However many firings lie between then and now, it fires
 * once at most: for the last of them, when that is just now or missed ones are made up for (D14).
 */
export function planFiring(
  row: ScheduleTimes & Pick<ScheduleRow, "catch_up">,
  dueAt: Date,
  now: Date,
): FiringPlan {
  const timetable = timetableOf(row);
  // Falls back on the time that was planned, which new rules of the time zone may have unmade.
  const latest = latestFiring(timetable, new Date(dueAt.getTime() - 1), now, row.anchor) ?? dueAt;
  const missed = now.getTime() - latest.getTime() > LATE_MS_MAX;
  return {
    scheduledAt: missed && row.catch_up === "none" ? null : latest,
    nextRunAt: nextFiring(timetable, now, row.anchor),
  };
}

/** A schedule's interval; null when it has a cron pattern. */
export function intervalOf(row: ScheduleTimes): ScheduleInterval | null {
  const { interval_value: value, interval_unit: unit } = row;
  return value === null || unit === null ? null : { value, unit };
}

function timetableOf(row: ScheduleTimes): Timetable {
  return { cron: row.cron, interval: intervalOf(row), timezone: row.timezone };
}
