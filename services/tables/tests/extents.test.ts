import { describe, expect, it } from "@jest/globals";
import { Extents } from "../src/memory/extents.ts";
import type { Extent } from "../src/memory/extents.ts";
import { createRandom } from "./support/random-values.ts";

const PAGE = 4_096;

describe("extents of a file", () => {
  it("never overlap, whatever is taken and given back", () => {
    const random = createRandom(3);
    const pages = 64;
    const extents = new Extents(pages * PAGE);
    const taken: Extent[] = [];
    let refusals = 0;
    for (let round = 0; round < 5_000; round += 1) {
      if (random.chance(0.55)) {
        const extent = extents.take(1 + random.below(9 * PAGE));
        if (extent === null) refusals += 1;
        else taken.push(extent);
      } else {
        const [gone] = taken.splice(random.below(taken.length), 1);
        if (gone !== undefined) extents.give(gone);
      }
      const sorted = taken.toSorted((a, b) => a.offset - b.offset);
      for (const [place, { offset, length }] of sorted.entries()) {
        expect(offset + length).toBeLessThanOrEqual(sorted[place + 1]?.offset ?? pages * PAGE);
      }
    }
    expect(refusals).toBeGreaterThan(0);
    for (const extent of taken) extents.give(extent);
    // All of it is one piece again.
    expect(extents.take(pages * PAGE)).toEqual({ offset: 0, length: pages * PAGE });
  });

  it("begin at pages, and take the first gap that is large enough", () => {
    const extents = new Extents(10 * PAGE);
    const [first, second, third] = [extents.take(1), extents.take(2 * PAGE + 1), extents.take(1)];
    expect([first?.offset, second?.offset, third?.offset]).toEqual([0, PAGE, 4 * PAGE]);
    if (second === null) throw new Error("There is room for it.");
    extents.give(second);
    expect(extents.take(4 * PAGE)).toEqual({ offset: 5 * PAGE, length: 4 * PAGE });
    expect(extents.take(PAGE)).toEqual({ offset: PAGE, length: PAGE });
    expect(extents.take(3 * PAGE)).toBeNull();
  });
});
