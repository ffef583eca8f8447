import { describe, expect, it } from "@jest/globals";
import { SeenSteps } from "../src/operations/seen-steps.ts";

function seen(...numbers: number[]): SeenSteps {
  const steps = new SeenSteps();
  for (const number of numbers) steps.add(number);
  return steps;
}

describe("the steps that a watcher has seen", () => {
  it.each([
    [[], "0"],
    [[1, 2, 3], "3"],
    [[3, 1, 2], "3"],
    [[2], "2.1"],
    [[5], "5.1-4"],
    [[5, 3], "5.1-2.4"],
    [[5, 3, 3, 5], "5.1-2.4"],
    [[10, 1, 5], "10.2-4.6-9"],
  ])("%j is %s, and back", (numbers, text) => {
    expect(seen(...numbers).encode()).toBe(text);
    const parsed = SeenSteps.parse(text);
    expect(parsed?.encode()).toBe(text);
    for (let number = 1; number <= 12; number++) {
      expect(parsed?.has(number)).toBe(numbers.includes(number));
    }
  });

  it("agree with a set, whatever the order", () => {
    const numbers = Array.from({ length: 400 }, (_, index) => ((index * 7919) % 401) + 1);
    const steps = new SeenSteps();
    const set = new Set<number>();
    for (const number of numbers) {
      steps.add(number);
      set.add(number);
    }
    for (let number = 1; number <= 500; number++) expect(steps.has(number)).toBe(set.has(number));
  });

  it.each([
    "",
    "x",
    "-1",
    "1.",
    ".1",
    "1.1",
    "5.3-2",
    "5.4.3",
    "5.5",
    "01",
    "5.0",
    "9999999999",
    "1e3",
  ])("are not %j", (text) => {
    expect(SeenSteps.parse(text)).toBeNull();
  });

  it("forget what lies above the first gap when there are too many", () => {
    const odd = seen(1, ...Array.from({ length: 300 }, (_, index) => 2 * index + 3));
    expect(odd.encode()).toBe("1");
    expect(odd.summary()).toEqual({ upTo: 1, missing: [] });
    expect(odd.has(3)).toBe(true);
  });
});
