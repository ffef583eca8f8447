import { latestFiring, nextFiring } from "@workflow/definition";
import type { ScheduleInterval, Timetable } from "@workflow/definition";
import type { ScheduleRow } from "../store/schedules.ts";

/**
 * A firing was missed when nothing has fired it within a sixth of the time to the next one, yet 10 s
 * and at most a minute: a restart does not cost an hourly firing, and a schedule of every minute can
 * still tell the last firing from the next.
 */
const LATE_MS = { least: 10_000, most: 60_000, share: 1 / 6 } as const;

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
  const next = nextFiring(timetable, now, row.anchor);
  const missed = now.getTime() - latest.getTime() > latenessAllowed(latest, next);
  return {
    scheduledAt: missed && row.catch_up === "none" ? null : latest,
    nextRunAt: next,
  };
}

function latenessAllowed(latest: Date, next: Date | null): number {
  if (next === null) return LATE_MS.most;
  const shareMs = (next.getTime() - latest.getTime()) * LATE_MS.share;
  return Math.min(Math.max(shareMs, LATE_MS.least), LATE_MS.most);
}

/** A schedule's interval; null when it has a cron pattern. */
export function intervalOf(row: ScheduleTimes): ScheduleInterval | null {
  const { interval_value: value, interval_unit: unit } = row;
  return value === null || unit === null ? null : { value, unit };
}

function timetableOf(row: ScheduleTimes): Timetable {
  return { cron: row.cron, interval: intervalOf(row), timezone: row.timezone };
}
