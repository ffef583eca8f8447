import { describe, expect, it } from "@jest/globals";
import type { Column } from "../src/domain/column.ts";
import { selectRows } from "../src/engine/index.ts";
import { columnOf, rowsOf, sorted, vectorOf } from "./support/engine-queries.ts";

/** Every page of a length, one after the other. */
function pages(
  column: Column | null,
  values: readonly unknown[],
  {
    limit,
    descending = false,
    dead = [],
  }: { limit: number; descending?: boolean; dead?: number[] },
): number[] {
  const vector = vectorOf(column ?? columnOf("text"), values);
  const source = rowsOf(vector, new Set(dead));
  const sort = column === null ? null : { column, descending };
  const found: number[] = [];
  for (let offset = 0; ; offset += limit) {
    const { indexes, total } = selectRows(source, { filter: [], sort, limit, offset });
    expect(total).toBe(source.liveCount);
    if (indexes.length === 0) return found;
    found.push(...indexes);
  }
}

describe("the order of a column", () => {
  it("puts values that do not fit after those that do, then blanks, both ways round (D34)", () => {
    const values = [null, "x", 3, "", 1, true, 2];
    expect(sorted(columnOf("number"), values)).toEqual([1, 2, 3, "x", true, null, ""]);
    expect(sorted(columnOf("number"), values, true)).toEqual([3, 2, 1, "x", true, null, ""]);
  });

  it("of numbers is by size, whatever their sign and magnitude", () => {
    const values = [1e300, -1, 0.5, -1e300, 5e-324, 0, 2 ** 53, -0.5, 1e-300];
    const ascending = [-1e300, -1, -0.5, 0, 5e-324, 1e-300, 0.5, 2 ** 53, 1e300];
    expect(sorted(columnOf("number"), values)).toEqual(ascending);
    expect(sorted(columnOf("number"), values, true)).toEqual(ascending.toReversed());
  });

  it("of days is by time, and of booleans false first", () => {
    const days = ["9999-12-31", "0001-01-01", "2024-02-29", "2023-02-30"];
    expect(sorted(columnOf("date"), days)).toEqual([
      "0001-01-01",
      "2024-02-29",
      "9999-12-31",
      "2023-02-30",
    ]);
    expect(sorted(columnOf("boolean"), [true, "no", false])).toEqual([false, true, "no"]);
    expect(sorted(columnOf("boolean"), [true, "no", false], true)).toEqual([true, false, "no"]);
  });

  it("of texts ignores case, but not accents; equal ones are ordered by their code units", () => {
    const ascending = [
      "Zebra!",
      "äpfel",
      "Apfel",
      "APFEL",
      "apfel",
      "zebra",
      "Straße",
      "10",
      "9",
      "_",
    ];
    expect(sorted(columnOf("text"), ascending)).toEqual([
      "_",
      "10",
      "9",
      "APFEL",
      "Apfel",
      "apfel",
      "äpfel",
      "Straße",
      "zebra",
      "Zebra!",
    ]);
  });

  it("of a select column is that of its options, then of the other texts", () => {
    const column = columnOf("select", ["low", "Medium", "high"]);
    const values = ["zz", "high", "low", 4, "medium", "Medium", null, "low"];
    expect(sorted(column, values)).toEqual([
      "low",
      "low",
      "Medium",
      "high",
      "medium",
      "zz",
      4,
      null,
    ]);
    expect(sorted(column, values, true)).toEqual([
      "zz",
      "medium",
      "high",
      "Medium",
      "low",
      "low",
      4,
      null,
    ]);
  });

  it("of a select column follows its options when they change", () => {
    const vector = vectorOf(columnOf("select", []), ["a", "b", "c"]);
    const first = (options: readonly string[]) =>
      selectRows(rowsOf(vector), {
        filter: [],
        sort: { column: columnOf("select", options), descending: false },
        limit: 1,
        offset: 0,
      }).indexes[0];
    expect(first(["b", "a"])).toBe(1);
    expect(first(["c", "b", "a"])).toBe(2);
    expect(first([])).toBe(0);
  });

  it("of a select column compares long options by what is kept of values", () => {
    const beginning = "x".repeat(2_000);
    const options = ["z", `${beginning}2`, "y", `${beginning}1`, "a"];
    const values = ["a", `${beginning}1`, "other", "y", `${beginning}2`, `${beginning}3`, "z"];
    expect(sorted(columnOf("select", options), values)).toEqual([
      "z",
      `${beginning}1`,
      `${beginning}2`,
      `${beginning}3`,
      "y",
      "a",
      "other",
    ]);
  });

  it("of a JSON column is that of the values' texts", () => {
    const values = ["b", { a: 1 }, 10, 9, "10", true, null];
    expect(sorted(columnOf("json"), values)).toEqual([{ a: 1 }, 10, "10", 9, "b", true, null]);
    const objects = [
      { b: 0, a: 2 },
      { a: 3, b: 0 },
      { a: 1, b: 0 },
      { a: 2, b: 0 },
    ];
    expect(sorted(columnOf("json"), objects)).toEqual([2, 0, 3, 1].map((row) => objects[row]));
  });

  it("leaves equal rows in the table's order both ways round", () => {
    const values = ["b", "a", "b", "a", null, "b", 1, 2, null];
    const column = columnOf("text");
    expect(pages(column, values, { limit: 100 })).toEqual([1, 3, 0, 2, 5, 6, 7, 4, 8]);
    expect(pages(column, values, { limit: 100, descending: true })).toEqual([
      0, 2, 5, 1, 3, 6, 7, 4, 8,
    ]);
  });
});

describe("pages", () => {
  const values = Array.from({ length: 200 }, (_, row) => [row % 7, "misfit", null, row][row % 4]);

  it.each([1, 3, 50, 199, 500])("of %d rows hold each row once and in one order", (limit) => {
    const column = columnOf("number");
    const whole = pages(column, values, { limit: 1_000 });
    expect(whole.toSorted((a, b) => a - b)).toEqual([...values.keys()]);
    expect(pages(column, values, { limit })).toEqual(whole);
    expect(pages(column, values, { limit, descending: true })).toEqual(
      pages(column, values, { limit: 1_000, descending: true }),
    );
    expect(pages(null, values, { limit })).toEqual([...values.keys()]);
  });

  it.each([1, 7, 60])("of %d rows leave out deleted ones", (limit) => {
    const dead = [0, 1, 2, 50, 51, 120, 198, 199];
    const live = [...values.keys()].filter((row) => !dead.includes(row));
    expect(pages(null, values, { limit, dead })).toEqual(live);
    const column = columnOf("number");
    const whole = pages(column, values, { limit: 1_000 });
    expect(pages(column, values, { limit, dead })).toEqual(
      whole.filter((row) => !dead.includes(row)),
    );
  });

  it("beyond the last row are empty, with the total", () => {
    const source = rowsOf(vectorOf(columnOf("text"), ["a", "b"]));
    for (const offset of [2, 3, Number.MAX_SAFE_INTEGER]) {
      const { indexes, total } = selectRows(source, { filter: [], sort: null, limit: 5, offset });
      expect([indexes.length, total]).toEqual([0, 2]);
    }
  });

  it("of no rows at all are empty", () => {
    const column = columnOf("text");
    const query = { filter: [], sort: { column, descending: true }, limit: 5, offset: 0 };
    expect(selectRows(rowsOf(vectorOf(column, [])), query)).toEqual({
      total: 0,
      indexes: new Int32Array(0),
    });
  });
});
