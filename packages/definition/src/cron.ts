import { Cron, CronPattern } from "croner";
import { toInstant, toWallTime } from "./wall-time.ts";

/** A parsed pattern of five cron fields. */
export interface CronRule {
  /** The same pattern as croner reads it. */
  pattern: string;
  /** Fires every hour of its days, so it follows elapsed time; see `cronTimes`. */
  everyHour: boolean;
  /** A day must match both day fields. Otherwise, when both are restricted, one match is enough. */
  bothDays: boolean;
}

/** A parsed pattern, or the reason why the text is none. */
export type CronResult = { ok: true; rule: CronRule } | { ok: false; message: string };

interface Field {
  name: string;
  values: string;
}

const FIELDS: readonly Field[] = [
  { name: "minute", values: "a number from 0 to 59" },
  { name: "hour", values: "a number from 0 to 23" },
  { name: "day of month", values: "a number from 1 to 31" },
  { name: "month", values: "a number from 1 to 12 or a name from JAN to DEC" },
  {
    name: "day of week",
    values: "a number from 0 to 7 (0 and 7 are Sunday) or a name from SUN to SAT",
  },
];
/** The most days of each month. 29 February occurs, and on every day of the week. */
const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const CRON_CHARS_MAX = 255;
/** The syntax of POSIX and Vixie cron; croner's L, W, #, ? and + are refused. */
const PART = /^(?:\*|(?:[0-9]{1,2}|[A-Z]{3})(?:-(?:[0-9]{1,2}|[A-Z]{3}))?)(?:\/[0-9]{1,2})?$/i;
/** A range may omit its end: `10/15` is `10-59/15`. */
const READING = { mode: "5-part", sloppyRanges: true } as const;

/**
 * Parses `minute hour day-of-month month day-of-week`: numbers, names (JAN, MON), `*`, ranges, lists and
 * steps. When both day fields are restricted, a day that matches either one counts. A field that begins with
 * `*` does not restrict in this sense, as in Vixie cron. A pattern that never fires ("0 0 30 2 *") is refused
 * (D14).
 */
export function parseCron(text: string): CronResult {
  if (text.length > CRON_CHARS_MAX) {
    return { ok: false, message: `must have at most ${CRON_CHARS_MAX} characters` };
  }
  const fields = text.trim().split(/\s+/);
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields;
  if (
    fields.length !== FIELDS.length ||
    minute === undefined ||
    hour === undefined ||
    dayOfMonth === undefined ||
    month === undefined ||
    dayOfWeek === undefined
  ) {
    const message = "must have five fields: minute hour day-of-month month day-of-week";
    return { ok: false, message };
  }
  const parsed = readPattern(fields);
  if (parsed === null) return { ok: false, message: explainProblem(fields) };
  const days = `${dayOfMonth} ${month} ${dayOfWeek}`;
  const everyHour = parsed.hour.every((fires) => fires !== 0);
  const rule: CronRule = {
    // Croner tells the two kinds of patterns apart by their spelling.
    pattern: everyHour
      ? `${minute} * ${days}`
      : `${toList(parsed.minute)} ${toList(parsed.hour)} ${days}`,
    everyHour,
    bothDays: dayOfMonth.startsWith("*") || dayOfWeek.startsWith("*"),
  };
  if (rule.bothDays && !hasDay(parsed)) {
    return { ok: false, message: "never fires: none of its months has such a day" };
  }
  return { ok: true, rule };
}

/**
 * Finds the first time after an instant at which a pattern fires in a time zone. Null when there is none
 * within 400 years. Where clocks change (D14):
 * - A skipped local time fires at the first instant after the gap, together with other firings of that
 *   instant. A repeated local time fires the first time only.
 * - A pattern that fires every hour of its days follows elapsed hours: it neither makes up for skipped local
 *   times nor drops repeated ones, as in Vixie cron.
 */
export function cronTimes(rule: CronRule, timezone: string): (after: Date) => Date | null {
  const calendar = new Cron(rule.pattern, {
    ...READING,
    timezone: rule.everyHour ? timezone : "UTC",
    domAndDow: rule.bothDays,
    fixedTimeRule: "no-wildcard",
  });
  if (rule.everyHour) return (after) => calendar.nextRun(after);
  // Croner drops a time whose gap ends on the next day (America/Nuuk). So the calendar is read in local time,
  // as if it were UTC, and translated here. Later local times never come out earlier.
  return (after) => {
    let wallTime = calendar.nextRun(toWallTime(after, timezone));
    while (wallTime !== null) {
      const instant = toInstant(wallTime, timezone);
      if (instant > after) return instant;
      wallTime = calendar.nextRun(wallTime);
    }
    return null;
  };
}

/** The fields in croner's syntax; null when croner or this parser refuses them. */
function readPattern(fields: readonly string[]): CronPattern | null {
  if (!fields.every((field) => field.split(",").every((part) => PART.test(part)))) return null;
  try {
    return new CronPattern(fields.join(" "), undefined, READING);
  } catch {
    return null;
  }
}

/** Names the first part of a field that is invalid by itself. */
function explainProblem(fields: readonly string[]): string {
  for (const [index, field] of FIELDS.entries()) {
    const part = fields[index]?.split(",").find((each) => {
      return readPattern(["*", "*", "*", "*", "*"].with(index, each)) === null;
    });
    if (part === undefined) continue;
    return `must not have ${JSON.stringify(part)} as its ${field.name} field: use *, ${field.values}, a range like 1-5, a step like */2, or a list of these`;
  }
  return "is not a cron pattern";
}

/** Whether one of the months has one of the days. Croner would search 400 years for one. */
function hasDay({ day, month }: CronPattern): boolean {
  const firstDay = 1 + day.findIndex((fires) => fires !== 0);
  return DAYS_IN_MONTH.some((days, index) => month[index] !== 0 && firstDay <= days);
}

function toList(values: readonly number[]): string {
  return values.flatMap((fires, value) => (fires === 0 ? [] : [value])).join(",");
}
