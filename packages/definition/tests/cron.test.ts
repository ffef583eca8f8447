import { describe, expect, it } from "@jest/globals";
import { parseCron } from "../src/index.ts";

function parse(text: string) {
  const result = parseCron(text);
  if (!result.ok) throw new Error(result.message);
  return result.pattern;
}

const range = (from: number, to: number, step = 1) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);

describe("parseCron", () => {
  it.each<[string, number[]]>([
    ["*", range(0, 59)],
    ["5", [5]],
    ["5,1,5", [1, 5]],
    ["10-12", [10, 11, 12]],
    ["*/20", [0, 20, 40]],
    ["10-30/10", [10, 20, 30]],
    ["50/5", [50, 55]],
    ["0-2,58-59", [0, 1, 2, 58, 59]],
  ])("minute %s", (field, expected) => {
    expect([...parse(`${field} * * * *`).minutes].toSorted((a, b) => a - b)).toEqual(expected);
  });

  it.each<[string, number[]]>([
    ["*", range(0, 6)],
    ["7", [0]],
    ["MON-FRI", range(1, 5)],
    ["FRI-SUN", [0, 5, 6]],
    ["5-7", [0, 5, 6]],
    ["sun,Wed", [0, 3]],
    ["*/2", [0, 2, 4, 6]],
  ])("day of week %s", (field, expected) => {
    expect([...parse(`* * * * ${field}`).daysOfWeek].toSorted((a, b) => a - b)).toEqual(expected);
  });

  it("months have names", () => {
    expect([...parse("0 0 1 jan,DEC *").months]).toEqual([1, 12]);
  });

  it("either day counts only where both are restricted", () => {
    expect(parse("0 0 1 * MON").matchesEitherDay).toBe(true);
    expect(parse("0 0 1 * *").matchesEitherDay).toBe(false);
    expect(parse("0 0 * * MON").matchesEitherDay).toBe(false);
  });

  it.each(["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 30-31 FEB *"])("%s never fires", (text) => {
    expect(parseCron(text)).toEqual({ ok: false, message: expect.stringContaining("never fires") });
  });

  it.each(["0 0 29 2 *", "0 0 31 2,3 *", "0 0 30 2 MON", "  0   0 31 12 *  "])(
    "%s fires",
    (text) => {
      expect(parseCron(text).ok).toBe(true);
    },
  );

  it.each([
    "",
    "* * * *",
    "* * * * * *",
    "60 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "* * 32 * *",
    "* * * 13 *",
    "* * * * 8",
    "*/0 * * * *",
    "5-1 * * * *",
    "a * * * *",
    "* * * FOO *",
    "1,, * * * *",
    "-1 * * * *",
    "1.5 * * * *",
    "@daily",
    "* * L * *",
    "* * * * MON#1",
    "* * ? * *",
    "JAN * * * *",
    "1".repeat(300),
  ])("%j is refused", (text) => {
    expect(parseCron(text).ok).toBe(false);
  });
});
