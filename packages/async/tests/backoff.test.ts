import { expect, it } from "@jest/globals";
import { backoffMs, halfRandom } from "../src/index.ts";

const limits = { firstMs: 100, maxMs: 1_000 };

/** The least and the most that a thousand tries gave. */
function rangeOf(pause: () => number): { least: number; most: number } {
  const pauses = Array.from({ length: 1_000 }, pause);
  return { least: Math.min(...pauses), most: Math.max(...pauses) };
}

it.each([
  [1, 100],
  [2, 200],
  [4, 800],
  [5, 1_000],
  [5_000, 1_000],
])("the pause after failure %i is between half of %i ms and all of it", (failures, fullMs) => {
  const { least, most } = rangeOf(() => backoffMs(failures, limits));
  expect(least).toBeGreaterThanOrEqual(fullMs / 2);
  expect(most).toBeLessThanOrEqual(fullMs);
  // Those that failed together do not return together.
  expect(most).toBeGreaterThan(least);
});

it("less than one failure counts as one", () => {
  const { least, most } = rangeOf(() => backoffMs(0, limits));
  expect(least).toBeGreaterThanOrEqual(50);
  expect(most).toBeLessThanOrEqual(100);
});

it("pauses are whole milliseconds, as the database takes them", () => {
  for (let ms = 1; ms < 100; ms += 1) expect(Number.isInteger(halfRandom(ms))).toBe(true);
});
