import { cronTimes, parseCron } from "./cron.ts";
import type { CronRule } from "./cron.ts";
import { canonicalTimeZone } from "./time-zone.ts";

/** The distance between firings. A day is 24 hours and a week seven days, whatever clocks do. */
export interface ScheduleInterval {
  value: number;
  unit: "minutes" | "hours" | "days" | "weeks";
}

/** The times of a schedule. Exactly one of cron and interval is given, as in a schedule trigger. */
export interface Timetable {
  /** Five fields, read in the time zone. */
  cron?: string | null | undefined;
  interval?: ScheduleInterval | null | undefined;
  timezone: string;
}

const UNIT_MS = {
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 604_800_000,
} as const satisfies Record<ScheduleInterval["unit"], number>;

/** The span of the first search of `latestFiring`, and the factor of each further one. */
const LOOK_BACK_MS = 5 * 60_000;
const LOOK_BACK_GROWTH = 8;

/** The length of an interval in milliseconds. */
export function intervalMs({ value, unit }: ScheduleInterval): number {
  return value * UNIT_MS[unit];
}

/**
 * The first firing after an instant; null when there is none. Intervals are counted from `anchor` (by default
 * the same instant), never from the last firing, so they do not drift. `cronTimes` describes the effect of
 * clock changes.
 *
 * @throws Error for a timetable that the trigger's schema refuses
 */
export function nextFiring(timetable: Timetable, after: Date, anchor: Date = after): Date | null {
  return timesOf(timetable, anchor)(after);
}

/** The next firings after an instant, at most `count`; see `nextFiring`. */
export function nextFirings(
  timetable: Timetable,
  after: Date,
  count: number,
  anchor: Date = after,
): Date[] {
  const next = timesOf(timetable, anchor);
  const firings: Date[] = [];
  for (let from: Date | null = after; from !== null && firings.length < count;) {
    from = next(from);
    if (from !== null) firings.push(from);
  }
  return firings;
}

/**
 * The last firing after `after` and not later than `upTo`; null when there is none. The cost does not depend
 * on the number of firings between the two.
 */
export function latestFiring(
  timetable: Timetable,
  after: Date,
  upTo: Date,
  anchor: Date,
): Date | null {
  const next = timesOf(timetable, anchor);
  for (let backMs = LOOK_BACK_MS; ; backMs *= LOOK_BACK_GROWTH) {
    const from = new Date(Math.max(upTo.getTime() - backMs, after.getTime()));
    let latest: Date | null = null;
    for (let firing = next(from); firing !== null && firing <= upTo; firing = next(firing)) {
      latest = firing;
    }
    if (latest !== null || from <= after) return latest;
  }
}

type Times = (after: Date) => Date | null;

function timesOf({ cron, interval, timezone }: Timetable, anchor: Date): Times {
  if (interval !== undefined && interval !== null) {
    const lengthMs = intervalMs(interval);
    return (after) => nextInterval(lengthMs, anchor, after);
  }
  const rule = ruleOf(cron ?? "");
  // One spelling for all: the libraries keep a formatter for every spelling.
  const zone = canonicalTimeZone(timezone);
  if (zone === undefined) throw new Error("The schedule's time zone is not known.");
  return cronTimes(rule, zone);
}

function nextInterval(lengthMs: number, anchor: Date, after: Date): Date {
  const passed = Math.floor((after.getTime() - anchor.getTime()) / lengthMs);
  return new Date(anchor.getTime() + Math.max(passed + 1, 1) * lengthMs);
}

function ruleOf(cron: string): CronRule {
  const result = parseCron(cron);
  if (!result.ok) throw new Error(`The schedule's pattern ${result.message}.`);
  return result.rule;
}
