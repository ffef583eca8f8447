/** The instants of a five-field cron pattern, as sets of numbers. */
export interface CronPattern {
  minutes: ReadonlySet<number>;
  hours: ReadonlySet<number>;
  daysOfMonth: ReadonlySet<number>;
  /** 1 is January. */
  months: ReadonlySet<number>;
  /** 0 is Sunday. */
  daysOfWeek: ReadonlySet<number>;
  /** With both day fields restricted a day that fits either one counts, as in every cron. */
  matchesEitherDay: boolean;
}

export type CronResult =
  { ok: true; pattern: CronPattern } | { ok: false; /** What is wrong. */ message: string };

interface Field {
  name: string;
  min: number;
  max: number;
  /** Names of the values from `min` on. */
  names?: readonly string[];
}

const MONTH_NAMES = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const DAY_NAMES = "SUN MON TUE WED THU FRI SAT".split(" ");
const MINUTE: Field = { name: "minute", min: 0, max: 59 };
const HOUR: Field = { name: "hour", min: 0, max: 23 };
const DAY_OF_MONTH: Field = { name: "day of month", min: 1, max: 31 };
const MONTH: Field = { name: "month", min: 1, max: 12, names: MONTH_NAMES };
/** 7 is Sunday too. */
const DAY_OF_WEEK: Field = { name: "day of week", min: 0, max: 7, names: DAY_NAMES };

/** Longest month of each kind; 29 February comes round. */
const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const CRON_CHARS_MAX = 255;

/**
 * Parses `minute hour day-of-month month day-of-week`: numbers, names (JAN, MON), `*`, ranges,
 * lists and steps. A pattern that fires on no day at all ("0 0 30 2 *") is refused (D14).
 */
export function parseCron(text: string): CronResult {
  const fields = text.trim().split(/\s+/);
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields;
  if (
    text.length > CRON_CHARS_MAX ||
    fields.length !== 5 ||
    minute === undefined ||
    hour === undefined ||
    dayOfMonth === undefined ||
    month === undefined ||
    dayOfWeek === undefined
  ) {
    return {
      ok: false,
      message: "must have five fields: minute hour day-of-month month day-of-week",
    };
  }
  try {
    const pattern: CronPattern = {
      minutes: parseField(minute, MINUTE),
      hours: parseField(hour, HOUR),
      daysOfMonth: parseField(dayOfMonth, DAY_OF_MONTH),
      months: parseField(month, MONTH),
      daysOfWeek: new Set([...parseField(dayOfWeek, DAY_OF_WEEK)].map((day) => day % 7)),
      matchesEitherDay: !dayOfMonth.startsWith("*") && !dayOfWeek.startsWith("*"),
    };
    if (!everFires(pattern)) {
      return { ok: false, message: "never fires: none of its months has such a day" };
    }
    return { ok: true, pattern };
  } catch (error) {
    if (error instanceof FieldError) return { ok: false, message: error.message };
    throw error;
  }
}

class FieldError extends Error {
  constructor(field: Field, part: string) {
    const names = field.names === undefined ? "" : ` (or ${field.names.join(", ")})`;
    super(
      `the ${field.name} field can't be ${JSON.stringify(part)}: use *, a number from ${field.min} to ${field.max}${names}, a range like 1-5, a step like */2, or a list of these`,
    );
  }
}

const PART = /^(?:\*|([0-9]{1,2}|[A-Z]{3})(?:-([0-9]{1,2}|[A-Z]{3}))?)(?:\/([0-9]{1,3}))?$/i;

function parseField(text: string, field: Field): Set<number> {
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const found = PART.exec(part);
    if (found === null) throw new FieldError(field, part);
    const [, first, last, stepText] = found;
    const from = first === undefined ? field.min : parseValue(first, field, part);
    const to = lastOf(from, first, last, stepText, field, part);
    const step = stepText === undefined ? 1 : Number(stepText);
    if (step < 1 || to < from) throw new FieldError(field, part);
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

/** `*` runs to the end, `a-b` to b, `a/n` to the end, `a` is itself. */
function lastOf(
  from: number,
  first: string | undefined,
  last: string | undefined,
  step: string | undefined,
  field: Field,
  part: string,
): number {
  if (last !== undefined) {
    const to = parseValue(last, field, part);
    // FRI-SUN: a week that ends on Sunday.
    return field === DAY_OF_WEEK && to === 0 && from > 0 ? 7 : to;
  }
  const end = field === DAY_OF_WEEK ? 6 : field.max;
  return first === undefined || step !== undefined ? end : from;
}

function parseValue(text: string, field: Field, part: string): number {
  if (/^[0-9]+$/.test(text)) {
    const value = Number(text);
    if (value < field.min || value > field.max) throw new FieldError(field, part);
    return value;
  }
  const index = field.names?.indexOf(text.toUpperCase()) ?? -1;
  if (index === -1) throw new FieldError(field, part);
  return field.min + index;
}

/** Only a day of the month can be missing from all months; a day of the week is in each. */
function everFires(pattern: CronPattern): boolean {
  if (pattern.matchesEitherDay) return true;
  const firstDay = Math.min(...pattern.daysOfMonth);
  return [...pattern.months].some((month) => firstDay <= (DAYS_IN_MONTH[month - 1] ?? 0));
}
