import { latestFiring, nextFiring } from "@workflow/definition";
import type { ScheduleInterval, Timetable } from "@workflow/definition";
import type { Absence } from "../store/scheduler-presence.ts";
import type { ScheduleRow } from "../store/schedules.ts";

/**
 * A firing was missed when no scheduler was there within a sixth of the time to the next one, yet 10 s
 * and at most a minute: a restart does not cost an hourly firing, and a schedule of every minute can
 * still tell the last firing from the next.
 */
const LATE_MS = { least: 10_000, most: 60_000, share: 1 / 6 } as const;

/** What a schedule says of its times. */
export type ScheduleTimes = Pick<
  ScheduleRow,
  "cron" | "intervalValue" | "intervalUnit" | "timezone" | "anchor"
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
  /** The moment for which it fires. */
  latest: Date;
  /** Whether no scheduler was there then; whoever was there and late fires all the same. */
  missed: boolean;
  nextRunAt: Date | null;
}

/**
 * Plans the firings of one poll. Working out a pattern's times takes a millisecond, and many schedules have
 * the same pattern and are due at the same moment.
 */
export class FiringPlanner {
  readonly #now: Date;
  readonly #absence: Absence | null;
  readonly #plans = new Map<string, FiringPlan>();

  /** @param absence when no scheduler has looked last */
  constructor(now: Date, absence: Absence | null) {
    this.#now = now;
    this.#absence = absence;
  }

  /** @see planFiring */
  plan(row: ScheduleTimes, dueAt: Date): FiringPlan {
    // Intervals count from a moment of their own.
    if (row.cron === null) return planFiring(row, dueAt, this.#now, this.#absence);
    const key = `${dueAt.getTime()} ${row.timezone} ${row.cron}`;
    const plan = this.#plans.get(key) ?? planFiring(row, dueAt, this.#now, this.#absence);
    this.#plans.set(key, plan);
    return plan;
  }
}

/**
 * Plans the firing of a schedule that is due. However many firings lie between then and now, it fires
 * once at most: for the last of them, unless that was missed and is not to be made up for (D14).
 */
function planFiring(
  row: ScheduleTimes,
  dueAt: Date,
  now: Date,
  absence: Absence | null,
): FiringPlan {
  const timetable = timetableOf(row);
  // Falls back on the time that was planned, which new rules of the time zone may have unmade.
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
