import { describe, expect, it } from "@jest/globals";
import { nextFirings, parseCron } from "../src/index.ts";

/** The next firings in UTC after 2026-01-01T00:00Z, which is a Thursday, without their `:00.000Z`. */
function firings(cron: string, count: number): string[] {
  const after = new Date("2026-01-01T00:00:00Z");
  return nextFirings({ cron, timezone: "UTC" }, after, count).map((firing) =>
    firing.toISOString().slice(0, 16),
  );
}

const MINUTES = (cron: string, count: number) =>
  firings(`${cron} * * * *`, count).map((time) => time.slice(11));
const DAYS = (days: string, count: number) =>
  firings(`0 0 ${days}`, count).map((time) => time.slice(0, 10));

describe("minutes", () => {
  it.each<[string, string[]]>([
    ["*", ["00:01", "00:02", "00:03"]],
    ["5", ["00:05", "01:05"]],
    ["5,1,5", ["00:01", "00:05", "01:01"]],
    ["10-12", ["00:10", "00:11", "00:12", "01:10"]],
    ["*/20", ["00:20", "00:40", "01:00"]],
    ["10-30/10", ["00:10", "00:20", "00:30", "01:10"]],
    ["50/5", ["00:50", "00:55", "01:50"]],
    ["1-2,58-59", ["00:01", "00:02", "00:58", "00:59"]],
  ])("%s", (field, expected) => {
    expect(MINUTES(field, expected.length)).toEqual(expected);
  });
});

describe("days", () => {
  it.each<[string, string[]]>([
    ["* * 7", ["2026-01-04", "2026-01-11"]],
    ["* * MON-FRI", ["2026-01-02", "2026-01-05", "2026-01-06"]],
    ["* * FRI-SUN", ["2026-01-02", "2026-01-03", "2026-01-04", "2026-01-09"]],
    ["* * 5-7", ["2026-01-02", "2026-01-03", "2026-01-04", "2026-01-09"]],
    ["* * sun,Wed", ["2026-01-04", "2026-01-07"]],
    ["* * */2", ["2026-01-03", "2026-01-04", "2026-01-06", "2026-01-08"]],
    ["1 jan,DEC *", ["2026-12-01", "2027-01-01"]],
    ["31 * *", ["2026-01-31", "2026-03-31", "2026-05-31"]],
    ["29 2 *", ["2028-02-29", "2032-02-29"]],
    ["29 2 1", ["2026-02-02", "2026-02-09"]],
  ])("%s", (fields, expected) => {
    expect(DAYS(fields, expected.length)).toEqual(expected);
  });

  it("either day counts where both fields are restricted", () => {
    expect(DAYS("13 * FRI", 4)).toEqual(["2026-01-02", "2026-01-09", "2026-01-13", "2026-01-16"]);
  });

  it("both have to fit where one begins with a star", () => {
    expect(DAYS("*/2 * MON", 3)).toEqual(["2026-01-05", "2026-01-19", "2026-02-09"]);
    expect(DAYS("13 * */5", 3)).toEqual(["2026-02-13", "2026-03-13", "2026-09-13"]);
  });
});

describe("parseCron", () => {
  it.each(["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 30-31 FEB *", "0 0 30 2 */2"])(
    "%s never fires",
    (text) => {
      expect(parseCron(text)).toEqual({
        ok: false,
        message: expect.stringContaining("never fires"),
      });
    },
  );

  it.each(["0 0 29 2 *", "0 0 31 2,3 *", "0 0 30 2 MON", "  0   0 31 12 *  "])(
    "%s fires",
    (text) => {
      expect(parseCron(text).ok).toBe(true);
    },
  );

  it.each([
    ["60 * * * *", "minute", '"60"'],
    ["* 24 * * *", "hour", '"24"'],
    ["* * 0 * *", "day of month", '"0"'],
    ["* * 32 * *", "day of month", '"32"'],
    ["* * * 13 *", "month", '"13"'],
    ["* * * * 8", "day of week", '"8"'],
    ["*/0 * * * *", "minute", '"*/0"'],
    ["* */25 * * *", "hour", '"*/25"'],
    ["1,5-1 * * * *", "minute", '"5-1"'],
    ["a * * * *", "minute", '"a"'],
    ["* * * FOO *", "month", '"FOO"'],
    ["1,, * * * *", "minute", '""'],
    ["-1 * * * *", "minute", '"-1"'],
    ["/5 * * * *", "minute", '"/5"'],
    ["1.5 * * * *", "minute", '"1.5"'],
    ["* * L * *", "day of month", '"L"'],
    ["* * 15W * *", "day of month", '"15W"'],
    ["* * * * FRIL", "day of week", '"FRIL"'],
    ["* * * * MON#1", "day of week", '"MON#1"'],
    ["* * * * +MON", "day of week", '"+MON"'],
    ["* * ? * *", "day of month", '"?"'],
    ["JAN * * * *", "minute", '"JAN"'],
    ["* * * MON *", "month", '"MON"'],
  ])("%s is refused with the name of the field", (text, field, part) => {
    const result = parseCron(text);
    if (result.ok) throw new Error("accepted");
    expect(result.message).toContain(`must not have ${part} as its ${field} field: use *`);
  });

  it.each(["", "* * * *", "* * * * * *", "0 * * * * * 2030", "@daily"])(
    "%j is refused: five fields",
    (text) => {
      expect(parseCron(text)).toEqual({
        ok: false,
        message: expect.stringContaining("must have five fields"),
      });
    },
  );

  it("is refused when it is too long, however many fields it has", () => {
    const minutes = Array.from({ length: 90 }, () => "10").join();
    expect(parseCron(`${minutes} * * * *`)).toEqual({
      ok: false,
      message: "must have at most 255 characters",
    });
  });
});
