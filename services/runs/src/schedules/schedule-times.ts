import { latestFiring, nextFiring } from "@workflow/definition";
import type { ScheduleInterval, Timetable } from "@workflow/definition";
import type { Absence } from "../store/scheduler-presence.ts";
import type { ScheduleRow } from "../store/schedules.ts";

/**
 * A firing was missed when no scheduler polled for a sixth of the interval after it, at least 10 s and at
 * most a minute. So a restart does not cost an hourly firing, and a schedule of every minute can still
 * tell the last firing from the next.
 */
const LATE_MS = { least: 10_000, most: 60_000, share: 1 / 6 } as const;

/** The fields of a schedule that decide its times. */
export type ScheduleTimes = Pick<
  ScheduleRow,
  "cron" | "intervalValue" | "intervalUnit" | "timezone" | "anchor"
>;

/** When a schedule fires next; null while it is disabled or its workflow is not active. */
export function nextRunAt(
  row: ScheduleTimes & Pick<ScheduleRow, "enabled" | "active">,
  now: Date,
): Date | null {
  return row.enabled && row.active ? nextFiring(timetableOf(row), now, row.anchor) : null;
}

/** The plan for a schedule that is due. */
export interface FiringPlan {
  /** The moment for which it fires. */
  latest: Date;
  /** Whether no scheduler was polling then. A scheduler that was only late fires nevertheless. */
  missed: boolean;
  nextRunAt: Date | null;
}

/**
 * Plans the firings of one poll. Working out a pattern's times takes a millisecond, and many schedules
 * have the same pattern and are due at the same moment.
 */
export class FiringPlanner {
  readonly #now: Date;
  readonly #absence: Absence | null;
  readonly #plans = new Map<string, FiringPlan>();

  /** @param absence the last time in which no scheduler polled */
  constructor(now: Date, absence: Absence | null) {
    this.#now = now;
    this.#absence = absence;
  }

  /** @see planFiring */
  plan(row: ScheduleTimes, dueAt: Date): FiringPlan {
    // Intervals count from the schedule's own anchor.
    if (row.cron === null) return planFiring(row, dueAt, this.#now, this.#absence);
    const key = `${dueAt.getTime()} ${row.timezone} ${row.cron}`;
    const plan = this.#plans.get(key) ?? planFiring(row, dueAt, this.#now, this.#absence);
    this.#plans.set(key, plan);
    return plan;
  }
}

/**
 * Plans the firing of a schedule that is due. However many firings lie between then and now, it fires
 * once at most: for the last one, unless that was missed and `catchUp` is off (D14).
 */
function planFiring(
  row: ScheduleTimes,
  dueAt: Date,
  now: Date,
  absence: Absence | null,
): FiringPlan {
  const timetable = timetableOf(row);
  // The planned time is the fallback: new rules of the time zone may have removed it.
  const latest = latestFiring(timetable, new Date(dueAt.getTime() - 1), now, row.anchor) ?? dueAt;
  const next = nextFiring(timetable, now, row.anchor);
  const missed =
    absence !== null &&
    latest > absence.from &&
    absence.until.getTime() - latest.getTime() > latenessAllowed(latest, next);
  return { latest, missed, nextRunAt: next };
}

function latenessAllowed(latest: Date, next: Date | null): number {
  if (next === null) return LATE_MS.most;
  const shareMs = (next.getTime() - latest.getTime()) * LATE_MS.share;
  return Math.min(Math.max(shareMs, LATE_MS.least), LATE_MS.most);
}

/** A schedule's interval; null when it has a cron pattern. */
export function intervalOf(row: ScheduleTimes): ScheduleInterval | null {
  const { intervalValue: value, intervalUnit: unit } = row;
  return value === null || unit === null ? null : { value, unit };
}

function timetableOf(row: ScheduleTimes): Timetable {
  return { cron: row.cron, interval: intervalOf(row), timezone: row.timezone };
}
