import { describe, expect, it } from "@jest/globals";
import { createMemoryBudget } from "../src/import/memory-budget.ts";
import { RowGatherer } from "../src/import/row-gatherer.ts";
import { errorOf } from "./support/harness.ts";

/** Ten bytes. */
const ROW = `{"a":"bc"}`;
const rows = (count: number): string[] => Array.from({ length: count }, () => ROW);

function gather(bytesMax: number, memoryBytes = 1_000_000): RowGatherer {
  const memory = createMemoryBudget(memoryBytes).open();
  return new RowGatherer({ maxRows: 250_000, bytesMax }, memory);
}

describe("the rows of one import", () => {
  it("may have as many bytes together as the limit says, and not one more", async () => {
    const whole = gather(100);
    await whole.add(rows(10));
    expect(whole.finish().map(({ count }) => count)).toEqual([10]);
    expect(await errorOf(gather(99).add(rows(10)))).toMatchObject({
      reason: "PAYLOAD_TOO_LARGE",
      message: "The rows of an import may have at most 99 bytes together.",
    });
  });

  it("are kept in batches of a megabyte, none lost", async () => {
    const gatherer = gather(3_000_000, 3_000_000);
    for (let message = 0; message < 25; message += 1) await gatherer.add(rows(10_000));
    const batches = gatherer.finish();
    expect(batches.length).toBeGreaterThan(2);
    expect(batches.reduce((sum, { count }) => sum + count, 0)).toBe(250_000);
    for (const { count, json } of batches) {
      expect(json.toString()).toBe(`[${rows(count).join(",")}]`);
    }
  });
});

describe("the memory of all imports", () => {
  it("is refused when it is used up, and free again when an import is over", async () => {
    const budget = createMemoryBudget(100);
    const add = (share: ReturnType<typeof budget.open>, count: number): Promise<void> =>
      new RowGatherer({ maxRows: 100, bytesMax: 1_000 }, share).add(rows(count));
    {
      using first = budget.open();
      await add(first, 6);
      using second = budget.open();
      expect(await errorOf(add(second, 5))).toMatchObject({ reason: "UNAVAILABLE" });
    }
    using third = budget.open();
    await add(third, 10);
  });
});
