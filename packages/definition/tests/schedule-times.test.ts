import { describe, expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import { IANAZone } from "luxon";
import { latestFiring, nextFiring, nextFirings } from "../src/index.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * The firings in the two days after an instant, derived by hand from the clock changes in the comments (in
 * UTC, offset before → after).
 */
const CHANGES = `
  # 2026-03-29T01:00 +1 → +2, 2026-10-25T01:00 +2 → +1, 2027-03-28T01:00, 2027-10-31T01:00
  Europe/Berlin | 30 2 * * * | a time in the gap runs right after it | 2026-03-28T00:00 | 28T01:30 29T01:00
  Europe/Berlin | 30 2 * * * | so it does the year after | 2027-03-27T00:00 | 27T01:30 28T01:00
  Europe/Berlin | 30 2 * * * | the day after the gap is a day like others | 2026-03-29T01:00 | 30T00:30 31T00:30
  Europe/Berlin | 30 2 * * * | a repeated time runs the first time | 2026-10-24T12:00 | 25T00:30 26T01:30
  Europe/Berlin | 30 2 * * * | so it does the year after, too | 2027-10-30T12:00 | 31T00:30 01T01:30
  Europe/Berlin | */30 2 * * * | all times in the gap run together | 2026-03-28T12:00 | 29T01:00 30T00:00 30T00:30
  Europe/Berlin | 20 2,3 * * * | a gap and the hour after it | 2026-03-28T12:00 | 29T01:00 29T01:20 30T00:20 30T01:20
  Europe/Berlin | */30 2-3 * * * | each repeated time runs once | 2026-10-24T12:00 | 25T00:00 25T00:30 25T02:00 25T02:30 26T01:00 26T01:30 26T02:00 26T02:30
  Europe/Berlin | 0 */6 * * * | every sixth hour is local time | 2026-03-28T12:00 | 28T17:00 28T23:00 29T04:00 29T10:00 29T16:00 29T22:00 30T04:00 30T10:00
  Europe/Berlin | 0 9 * * MON-FRI | working days keep their local hour | 2026-03-28T12:00 | 30T07:00
  Europe/Berlin | 30 * 29 3 * | an hourly pattern has no gap | 2026-03-28T23:00 | 28T23:30 29T00:30 29T01:30 29T02:30 29T03:30 29T04:30 29T05:30 29T06:30 29T07:30 29T08:30 29T09:30 29T10:30 29T11:30 29T12:30 29T13:30 29T14:30 29T15:30 29T16:30 29T17:30 29T18:30 29T19:30 29T20:30 29T21:30
  # 2026-03-08T07:00 -5 → -4, 2026-11-01T06:00 -4 → -5, 2027-03-14T07:00, 2027-11-07T06:00
  America/New_York | 15 2 * * * | gap | 2026-03-07T12:00 | 08T07:00 09T06:15
  America/New_York | 15 1 * * * | repeated | 2026-10-31T12:00 | 01T05:15 02T06:15
  America/New_York | 0 3 * * * | the first time after the gap | 2027-03-13T12:00 | 14T07:00 15T07:00
  America/New_York | 59 1 * * * | the last repeated minute | 2027-11-06T12:00 | 07T05:59 08T06:59
  # +5:45 all year
  Asia/Kathmandu | 0 0 * * * | an offset with three quarters | 2026-03-28T00:00 | 28T18:15 29T18:15
  Asia/Kathmandu | 30 2 * * * | autumn | 2027-10-30T00:00 | 30T20:45 31T20:45
  # 2026-03-08T05:30 -3:30 → -2:30, 2026-11-01T04:30 -2:30 → -3:30, 2027-03-14T05:30
  America/St_Johns | 30 2 * * * | gap | 2026-03-07T12:00 | 08T05:30 09T05:00
  America/St_Johns | 30 1 * * * | repeated | 2026-10-31T12:00 | 01T04:00 02T05:00
  America/St_Johns | 45 2 * * * | the year after | 2027-03-13T12:00 | 14T05:30 15T05:15
  # Ramadan: 2026-02-15T02:00 +1 → 0, 2026-03-22T02:00 0 → +1. What is known of later changes depends
  # on the release of the zone data.
  Africa/Casablanca | 30 2 * * * | Ramadan begins | 2026-02-14T12:00 | 15T01:30 16T02:30
  Africa/Casablanca | 30 2 * * * | Ramadan ends | 2026-03-21T12:00 | 22T02:00 23T01:30
  # By half an hour: 2026-04-04T15:00 +11 → +10:30, 2026-10-03T15:30 +10:30 → +11, 2027-04-03T15:00
  Australia/Lord_Howe | 45 1 * * * | half an hour repeated | 2026-04-04T00:00 | 04T14:45 05T15:15
  Australia/Lord_Howe | 15 2 * * * | half an hour left out | 2026-10-02T17:00 | 03T15:30 04T15:15
  Australia/Lord_Howe | 30 2 * * * | the end of the gap | 2026-10-02T17:00 | 03T15:30 04T15:30
  Australia/Lord_Howe | 45 1 * * * | the year after | 2027-04-03T00:00 | 03T14:45 04T15:15
  # The gap is the last hour of a Saturday: 2026-03-29T01:00 -2 → -1
  America/Nuuk | 30 23 * * * | a gap up to midnight | 2026-03-28T12:00 | 29T01:00 30T00:30
  America/Nuuk | 30 23 * * SAT | a gap up to another day of the week | 2026-03-28T12:00 | 29T01:00
`;

/** The firings over some hours for patterns of all hours, which follow elapsed time. */
const ROLLING = `
  Europe/Berlin | 0 * * * * | both of two like hours | 2026-10-24T23:30 | 25T00:00 25T01:00 25T02:00
  Europe/Berlin | 0 0-23 * * * | spelled as a range | 2026-10-24T23:30 | 25T00:00 25T01:00 25T02:00
  Europe/Berlin | */20 * * * * | thirds of an hour over the gap | 2026-03-29T00:30 | 29T00:40 29T01:00 29T01:20
  Europe/Berlin | */20 * * * * | and back | 2026-10-25T00:30 | 25T00:40 25T01:00 25T01:20
  America/St_Johns | 0 * * * * | hours of local time | 2026-03-08T04:00 | 08T04:30 08T05:30 08T06:30
  Asia/Kathmandu | */30 * * * * | half hours of local time | 2026-10-25T00:00 | 25T00:15 25T00:45
  Australia/Lord_Howe | */15 * * * * | quarters over half an hour | 2027-04-03T14:50 | 03T15:00 03T15:15
  # The first hour of the day comes twice: 2026-11-01T05:00 -4 → -5
  America/Havana | 0 * 1 11 * | a first hour that comes twice | 2026-10-31T12:00 | 01T04:00 01T05:00 01T06:00
`;

describe("where clocks change", () => {
  it.each(readTable(CHANGES))("%s, %s: %s", (timezone, cron, _what, from, expected) => {
    const until = new Date(from.getTime() + 2 * DAY_MS);
    const firings = nextFirings({ cron, timezone }, from, expected.length + 1);
    expect(firings.filter((firing) => firing <= until).map(short)).toEqual(expected);
  });

  it.each(readTable(ROLLING))("%s, %s: %s", (timezone, cron, _what, from, expected) => {
    expect(nextFirings({ cron, timezone }, from, expected.length).map(short)).toEqual(expected);
  });
});

function short(firing: Date): string {
  return firing.toISOString().slice(8, 16);
}

function readTable(table: string): [string, string, string, Date, string[]][] {
  const lines = table.split("\n").filter((line) => /^ +[A-Z]/.test(line));
  return lines.map((line) => {
    const [timezone = "", cron = "", what = "", from = "", firings = ""] = line.trim().split(" | ");
    return [timezone, cron, what, new Date(`${from}Z`), firings.split(" ")];
  });
}

/** The patterns of the property, with their values for an oracle without cron. */
const field = (max: number) =>
  fc.oneof(
    fc.record({ text: fc.constant("*"), values: fc.constant(range(0, max)) }),
    fc
      .uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 3 })
      .map((values) => ({ text: values.join(","), values })),
    fc
      .integer({ min: 2, max: 30 })
      .filter((step) => step <= max)
      .map((step) => ({
        text: `*/${step}`,
        values: range(0, max).filter((value) => value % step === 0),
      })),
  );
const CHANGE_DAYS =
  "2026-03-28 2026-10-24 2026-03-07 2026-10-31 2026-02-14 2026-03-21 2026-04-04 2026-10-03 " +
  "2027-03-27 2027-10-30 2026-04-23 2026-10-29";
const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kathmandu",
  "America/St_Johns",
  "Africa/Casablanca",
  "Australia/Lord_Howe",
  "America/Nuuk",
  "America/Havana",
  "Africa/Cairo",
  "Pacific/Chatham",
  "UTC",
];

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** The local time minute by minute, as minutes since 1970 by those clocks. */
function showMinutes(timezone: string, from: number, lengthMs: number) {
  const zone = IANAZone.create(timezone);
  return range(0, lengthMs / MINUTE_MS).map((minute) => {
    const at = from + minute * MINUTE_MS;
    return { at, shown: at / MINUTE_MS + zone.offset(at) };
  });
}

describe("nextFiring", () => {
  it("fires where a walk through the minutes of two days says", () => {
    const days = fc.integer({ min: 0, max: 729 }).map((day) => Date.UTC(2026, 0, 1) + day * DAY_MS);
    const changes = fc.constantFrom(...CHANGE_DAYS.split(" ").map((day) => Date.parse(day)));
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        field(59),
        field(23),
        fc.oneof(days, changes),
        (timezone, minute, hour, from) => {
          const timetable = { cron: `${minute.text} ${hour.text} * * *`, timezone };
          const expected = expectedFirings(
            timezone,
            { minutes: minute.values, hours: hour.values },
            from,
            DAY_MS,
          );
          const firings = nextFirings(timetable, new Date(from), expected.length + 1);
          const found = firings.map((firing) => firing.getTime());
          expect(found.pop()).toBeGreaterThan(from + DAY_MS);
          expect(found).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("does not depend on where between two firings it is asked", () => {
    const timetable = { cron: "*/7 1-4 * * *", timezone: "Europe/Berlin" };
    const start = Date.parse("2026-10-24T20:00:00Z");
    fc.assert(
      fc.property(fc.integer({ min: 0, max: DAY_MS }), (offset) => {
        const after = new Date(start + offset);
        const next = nextFiring(timetable, after);
        if (next === null) throw new Error("never");
        expect(next > after).toBe(true);
        expect(nextFiring(timetable, new Date(next.getTime() - 1))).toEqual(next);
      }),
    );
  });

  it("knows a zone in any spelling and refuses what it does not know", () => {
    const after = new Date("2026-06-01T00:00:00Z");
    expect(nextFiring({ cron: "0 12 * * *", timezone: "europe/berlin" }, after)).toEqual(
      new Date("2026-06-01T10:00:00Z"),
    );
    expect(() => nextFiring({ cron: "0 12 * * *", timezone: "Mars/Base" }, after)).toThrow();
    expect(() => nextFiring({ cron: "0 25 * * *", timezone: "UTC" }, after)).toThrow("hour field");
  });
});

describe("intervals", () => {
  const anchor = new Date("2026-03-28T12:34:56.789Z");
  it.each([
    [{ value: 1, unit: "minutes" }, 60_000],
    [{ value: 90, unit: "minutes" }, 5_400_000],
    [{ value: 3, unit: "hours" }, 10_800_000],
    [{ value: 1, unit: "days" }, 86_400_000],
    [{ value: 2, unit: "weeks" }, 1_209_600_000],
  ] as const)("%j from the anchor on, whatever clocks do", (interval, lengthMs) => {
    const timetable = { interval, timezone: "Europe/Berlin" };
    const expected = [1, 2, 3].map((count) => new Date(anchor.getTime() + count * lengthMs));
    expect(nextFirings(timetable, anchor, 3)).toEqual(expected);
  });

  it("keep to their anchor when asked late", () => {
    const timetable = { interval: { value: 10, unit: "minutes" }, timezone: "UTC" } as const;
    const late = new Date(anchor.getTime() + 25 * MINUTE_MS + 17);
    expect(nextFiring(timetable, late, anchor)).toEqual(
      new Date(anchor.getTime() + 30 * MINUTE_MS),
    );
    expect(nextFiring(timetable, new Date(anchor.getTime() + 30 * MINUTE_MS), anchor)).toEqual(
      new Date(anchor.getTime() + 40 * MINUTE_MS),
    );
  });

  it("do not fire before one interval has passed", () => {
    const timetable = { interval: { value: 1, unit: "days" }, timezone: "UTC" } as const;
    const early = new Date(anchor.getTime() - 3 * DAY_MS);
    expect(nextFiring(timetable, early, anchor)).toEqual(new Date(anchor.getTime() + DAY_MS));
  });
});

describe("latestFiring", () => {
  const at = (time: string) => new Date(time);
  it.each<[string, string, string, string | null]>([
    ["* * * * *", "2020-01-01T00:00:00Z", "2026-01-01T00:00:30Z", "2026-01-01T00:00:00Z"],
    ["0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-05T02:59:59Z", "2026-01-04T03:00:00Z"],
    ["0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-05T03:00:00Z", "2026-01-05T03:00:00Z"],
    ["0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-02T02:59:59Z", null],
    ["0 0 29 2 *", "2021-01-01T00:00:00Z", "2027-12-31T00:00:00Z", "2024-02-29T00:00:00Z"],
    ["0 0 29 2 *", "2024-02-29T00:00:00Z", "2027-12-31T00:00:00Z", null],
  ])("of %s after %s up to %s", (cron, after, upTo, expected) => {
    const latest = latestFiring({ cron, timezone: "UTC" }, at(after), at(upTo), at(after));
    expect(latest).toEqual(expected === null ? null : at(expected));
  });

  it("counts intervals from the anchor", () => {
    const timetable = { interval: { value: 7, unit: "minutes" }, timezone: "UTC" } as const;
    const anchor = at("2026-01-01T00:00:00Z");
    expect(latestFiring(timetable, anchor, at("2026-01-01T01:00:00Z"), anchor)).toEqual(
      at("2026-01-01T00:56:00Z"),
    );
  });
});

/**
 * D14 without cron. A pattern of all hours fires in every minute whose local time fits. Any other pattern
 * fires at the first minute that shows a fitting local time, and right after a gap that skips one.
 */
function expectedFirings(
  timezone: string,
  { minutes, hours }: { minutes: readonly number[]; hours: readonly number[] },
  from: number,
  lengthMs: number,
): number[] {
  const everyHour = hours.length === 24;
  const fits = (shown: number): boolean =>
    minutes.includes(shown % 60) && hours.includes(Math.floor(shown / 60) % 24);
  const firings = new Set<number>();
  const seen = new Set<number>();
  let previous = Number.POSITIVE_INFINITY;
  // The walk begins a day before, so that it recognizes repeated times.
  for (const { at, shown } of showMinutes(timezone, from - DAY_MS, lengthMs + DAY_MS)) {
    if (fits(shown) && (everyHour || !seen.has(shown))) firings.add(at);
    for (let skipped = previous + 1; skipped < shown && !everyHour; skipped++) {
      if (fits(skipped)) firings.add(at);
    }
    seen.add(shown);
    previous = shown;
  }
  return [...firings].filter((at) => at > from);
}
