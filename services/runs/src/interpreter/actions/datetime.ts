import { DATETIME_FORMAT_CHARS_MAX, DATETIME_UNITS, parseIsoTime } from "@workflow/definition";
import { DateTime, IANAZone } from "luxon";
import { ActionInputs, invalidInput } from "./inputs.ts";

/** The years that `parseIsoTime` reads, so that one action can read what another wrote. */
const FIRST_MS = Date.parse("0100-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");
/** More milliseconds than there are between these years. Luxon fails with larger numbers. */
const AMOUNT_MAX = 1e15;

/**
 * A time as text, by Luxon's tokens, in English: `{value, format, timezone? = "UTC"}` → `{text}`. The
 * zone's rules for that very moment count, summer time included.
 */
export function datetimeFormat(resolved: unknown): { text: string } {
  const inputs = new ActionInputs(resolved);
  const millis = timeOf(inputs, "value");
  const format = inputs.text("format");
  if (format.length > DATETIME_FORMAT_CHARS_MAX) {
    throw invalidInput("format", `is longer than ${DATETIME_FORMAT_CHARS_MAX} characters`);
  }
  const zone = inputs.has("timezone") ? inputs.text("timezone") : "UTC";
  // Luxon would also take "system", which is the server's zone.
  if (!IANAZone.isValidZone(zone)) {
    throw invalidInput("timezone", "must be an IANA time zone such as Europe/Paris or UTC");
  }
  const time = DateTime.fromMillis(millis, { zone: IANAZone.create(zone), locale: "en-US" });
  return { text: time.toFormat(format) };
}

/**
 * A time moved by an amount, which may be negative: `{value, amount, unit}` → `{value}`, an ISO timestamp
 * in UTC with milliseconds. The calculation is in UTC, so a day has 24 hours. Months and years keep the
 * day of the month, or take the month's last day: 31 January plus a month is 28 or 29 February.
 */
export function datetimeAdd(resolved: unknown): { value: string } {
  const inputs = new ActionInputs(resolved);
  const start = DateTime.fromMillis(timeOf(inputs, "value"), { zone: "utc" });
  const unit = inputs.oneOf("unit", DATETIME_UNITS);
  const amount = inputs.number("amount");
  if (Math.abs(amount) > AMOUNT_MAX) throw invalidInput("amount", "is too large");
  if ((unit === "months" || unit === "years") && !Number.isInteger(amount)) {
    throw invalidInput("amount", `must be a whole number of ${unit}`);
  }
  const millis = start.plus({ [unit]: amount }).toMillis();
  if (!isWritable(millis)) throw invalidInput("amount", "leads beyond the years 100 to 9999");
  return { value: new Date(millis).toISOString() };
}

/**
 * The time from one moment to another, with a fraction, negative when backwards: `{from, to, unit}` →
 * `{value}`. The calculation is in UTC like that of `datetimeAdd`. A part of a month is its share of the
 * month that it lies in.
 */
export function datetimeDiff(resolved: unknown): { value: number } {
  const inputs = new ActionInputs(resolved);
  const from = DateTime.fromMillis(timeOf(inputs, "from"), { zone: "utc" });
  const to = DateTime.fromMillis(timeOf(inputs, "to"), { zone: "utc" });
  const unit = inputs.oneOf("unit", DATETIME_UNITS);
  // Luxon's zero may be negative. JSON would write it as 0 anyway.
  return { value: to.diff(from, unit).as(unit) + 0 };
}

/** Milliseconds since 1970 of an input that is an ISO timestamp or a number of milliseconds. */
function timeOf(inputs: ActionInputs, key: string): number {
  const value = inputs.value(key);
  const millis = typeof value === "string" ? parseIsoTime(value) : value;
  if (typeof millis !== "number" || !Number.isFinite(millis)) {
    throw invalidInput(key, "must be an ISO timestamp or a number of milliseconds since 1970");
  }
  if (!isWritable(millis)) throw invalidInput(key, "is beyond the years 100 to 9999");
  return millis;
}

function isWritable(millis: number): boolean {
  return millis >= FIRST_MS && millis <= LAST_MS;
}
