import { describe, expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import { compact, findPlace, overlap } from "../src/dashboards/compact.ts";
import type { Rectangle } from "../src/dashboards/compact.ts";

type Named = Rectangle & { id: number };

const ROW_MAX = Number.MAX_SAFE_INTEGER - 12;

/** Any rectangle that the contract lets a caller send; rows mostly near to each other. */
const rectangle = fc
  .record({
    w: fc.integer({ min: 1, max: 12 }),
    h: fc.integer({ min: 1, max: 12 }),
    column: fc.nat({ max: 11 }),
    y: fc.oneof(
      { weight: 9, arbitrary: fc.nat({ max: 60 }) },
      { weight: 1, arbitrary: fc.maxSafeNat().map((row) => Math.min(row, ROW_MAX)) },
    ),
  })
  .map(({ w, h, column, y }) => ({ x: Math.min(column, 12 - w), y, w, h }));

const layout = fc
  .array(rectangle, { maxLength: 40 })
  .map((rectangles) => rectangles.map((each, id): Named => ({ ...each, id })));

const sharesColumn = (a: Rectangle, b: Rectangle): boolean => a.x < b.x + b.w && b.x < a.x + a.w;
const pairsOf = (all: readonly Named[]) =>
  all.flatMap((a) => all.filter((b) => b !== a).map((b) => [a, b] as const));
const overlapping = (all: readonly Named[]) => pairsOf(all).filter(([a, b]) => overlap(a, b));

/** Those that neither lie at the top nor directly below another one. */
const floating = (all: readonly Named[]) =>
  all.filter(
    (each) =>
      each.y !== 0 &&
      !all.some((other) => other.y + other.h === each.y && sharesColumn(other, each)),
  );

function checkAll(check: (before: readonly Named[], after: readonly Named[]) => void): void {
  fc.assert(
    fc.property(layout, (before) => check(before, compact(before))),
    { numRuns: 500 },
  );
}

describe("a compacted layout", () => {
  it("has no overlaps", () => {
    checkAll((_before, after) => expect(overlapping(after)).toEqual([]));
  });

  it("has no vertical gaps", () => {
    checkAll((_before, after) => expect(floating(after)).toEqual([]));
  });

  it("keeps every rectangle's column and size", () => {
    const withoutRow = (all: readonly Named[]) =>
      all.map(({ id, x, w, h }) => ({ id, x, w, h })).toSorted((a, b) => a.id - b.id);
    checkAll((before, after) => expect(withoutRow(after)).toEqual(withoutRow(before)));
  });

  it("keeps the order of those that share a column, in rows, then columns, then as given", () => {
    checkAll((before, after) => {
      const rowOf = new Map(after.map(({ id, y }) => [id, y]));
      const row = ({ id }: Named) => rowOf.get(id) ?? -1;
      const inOrder = before.toSorted((a, b) => a.y - b.y || a.x - b.x);
      for (const [index, earlier] of inOrder.entries()) {
        for (const later of inOrder.slice(index + 1)) {
          if (sharesColumn(earlier, later)) expect(row(earlier)).toBeLessThan(row(later));
        }
      }
    });
  });

  it("stays as it is when it is compacted again", () => {
    checkAll((_before, after) => expect(compact(after)).toEqual(after));
  });

  it("is the same for layouts without ties, in whatever order they are given", () => {
    checkAll((before, after) => {
      const places = new Set(before.map(({ x, y }) => `${x},${y}`));
      if (places.size === before.length) expect(compact(before.toReversed())).toEqual(after);
    });
  });

  it("closes gaps and puts the later of two that overlap below the earlier", () => {
    const placed = compact([
      { id: "right", x: 6, y: 2, w: 6, h: 4 },
      { id: "wide", x: 0, y: 3, w: 12, h: 4 },
      { id: "left", x: 0, y: 9, w: 4, h: 8 },
    ]);
    expect(placed.map(({ id, y }) => [id, y])).toEqual([
      ["right", 0],
      ["wide", 4],
      ["left", 8],
    ]);
  });
});

describe("the place of a new rectangle", () => {
  it("overlaps nothing and moves nothing", () => {
    fc.assert(
      fc.property(layout, rectangle, (before, size) => {
        const taken = compact(before);
        const added = { ...findPlace(taken, size), id: -1 };
        const all = [...taken, added];
        expect(overlapping(all)).toEqual([]);
        expect(compact(all)).toEqual(expect.arrayContaining(all));
      }),
      { numRuns: 500 },
    );
  });

  it("is beside the last one while there is room in the row", () => {
    const taken: Rectangle[] = [];
    for (let count = 0; count < 4; count += 1) taken.push(findPlace(taken, { w: 4, h: 4 }));
    expect(taken.map(({ x, y }) => [x, y])).toEqual([
      [0, 0],
      [4, 0],
      [8, 0],
      [0, 4],
    ]);
  });
});
