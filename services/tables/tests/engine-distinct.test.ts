import { describe, expect, it } from "@jest/globals";
import { listDistinct } from "../src/engine/index.ts";
import { columnOf, distinctOf, rowsOf, vectorOf } from "./support/engine-queries.ts";

const labels = (...args: Parameters<typeof distinctOf>) =>
  distinctOf(...args).values.map(({ label, count }) => `${label} ${count}`);

describe("distinct values", () => {
  it("stand in the column's order with their counts, misfits and then blanks last", () => {
    const values = ["b", null, "A", 7, "b", "", "a", { z: 1 }, 7];
    expect(distinctOf(columnOf("text"), values)).toEqual({
      values: [
        { valueJson: '"A"', label: "A", count: 1 },
        { valueJson: '"a"', label: "a", count: 1 },
        { valueJson: '"b"', label: "b", count: 2 },
        { valueJson: "7", label: "7", count: 2 },
        { valueJson: '{"z":1}', label: '{"z":1}', count: 1 },
        { valueJson: "null", label: "(Blanks)", count: 2 },
      ],
      truncated: false,
    });
  });

  it.each([
    ["number", [2, 1e21, -0, 0, "2"], ["0 2", "2 1", "1e+21 1", "2 1"]],
    ["boolean", [true, false, true, "true"], ["false 1", "true 2", "true 1"]],
    [
      "date",
      ["2024-02-29", "0999-01-01", "2023-02-30"],
      ["0999-01-01 1", "2024-02-29 1", "2023-02-30 1"],
    ],
    ["select", ["a", "b", "a"], ["b 1", "a 2"]],
  ] as const)("of a %s column", (type, values, expected) => {
    expect(labels(columnOf(type, ["b"]), values)).toEqual(expected);
  });

  it("of a JSON column tell strings from other values, and not the order of members", () => {
    const values = ["5", { b: 1, a: 2 }, 5, { a: 2, b: 1 }, 5];
    expect(distinctOf(columnOf("json"), values).values).toEqual([
      { valueJson: '{"a":2,"b":1}', label: '{"a":2,"b":1}', count: 2 },
      { valueJson: '"5"', label: "5", count: 1 },
      { valueJson: "5", label: "5", count: 2 },
    ]);
  });

  it("say that there are more than the limit, and only then", () => {
    const values = ["a", "b", null, 5, 6, 5];
    for (const limit of [1, 2, 3, 4]) {
      expect(distinctOf(columnOf("text"), values, { limit })).toMatchObject({
        values: { length: limit },
        truncated: true,
      });
    }
    expect(distinctOf(columnOf("text"), values, { limit: 5 }).truncated).toBe(false);
  });

  it("have whole counts also when the limit cuts off others", () => {
    const values = [1, 2, 3, 1, { b: 0, a: 0 }, { a: 0, b: 0 }, 1];
    expect(labels(columnOf("text"), values, { limit: 2 })).toEqual(["1 3", "2 1"]);
    expect(labels(columnOf("json"), values, { limit: 1 })).toEqual(['{"a":0,"b":0} 2']);
    expect(labels(columnOf("json"), ["5", 5, "5", 5, "6"], { limit: 1 })).toEqual(["5 2"]);
  });

  it("of a JSON column are found by their label, however their members were ordered", () => {
    const values = [{ b: 1, a: 2 }, { a: 2, b: 1 }, { b: 1 }];
    for (const type of ["json", "text"] as const) {
      expect(labels(columnOf(type), values, { search: '2,"B"' })).toEqual(['{"a":2,"b":1} 2']);
      expect(labels(columnOf(type), values, { search: '1,"a"' })).toEqual([]);
    }
    const many = Array.from({ length: 9_000 }, (_, row) => ({ z: row >> 1, a: "é" }));
    expect(labels(columnOf("json"), many, { search: '"É","Z":123}' })).toEqual([
      '{"a":"é","z":123} 2',
    ]);
  });

  it("are searched by a part of the label, that of the blanks too, whatever the case", () => {
    const values = ["Blankenese", "Altona", "ANKER", null, { ank: 1 }];
    expect(labels(columnOf("text"), values, { search: "ANK" })).toEqual([
      "ANKER 1",
      "Blankenese 1",
      '{"ank":1} 1',
      "(Blanks) 1",
    ]);
    expect(labels(columnOf("number"), [15, 25, 150, null], { search: "15" })).toEqual([
      "15 1",
      "150 1",
    ]);
  });

  it("are found among the many of a column in which all differ", () => {
    const values = Array.from({ length: 9_000 }, (_, row) =>
      row % 10 === 0 ? null : `No. ${row}`,
    );
    expect(labels(columnOf("text"), values, { search: "NO. 123" })).toHaveLength(10);
    expect(labels(columnOf("text"), values, { search: "blanks" })).toEqual(["(Blanks) 900"]);
    expect(labels(columnOf("text"), values, { limit: 2 })).toEqual(["No. 1 1", "No. 1001 1"]);
  });

  it("count the live rows that pass the filter", () => {
    const column = columnOf("text");
    const source = rowsOf(vectorOf(column, ["a", "b", "ab", "a"]), new Set([3]));
    const contains = { on: "text", operator: "contains", value: "a" } as const;
    const filter = [{ kind: "column", column, condition: contains }] as const;
    expect(listDistinct(source, { column, filter, search: "", limit: 10 }).values).toEqual([
      { valueJson: '"a"', label: "a", count: 1 },
      { valueJson: '"ab"', label: "ab", count: 1 },
    ]);
  });

  it("leave out what is too large to be asked for, and say so when the search does not exclude it", () => {
    const values = [
      "fits",
      "x".repeat(1_998),
      "y".repeat(1_999),
      "z".repeat(2_000),
      '"'.repeat(1_500),
    ];
    const found = distinctOf(columnOf("text"), values);
    expect(found.truncated).toBe(true);
    expect(found.values.map(({ label }) => label.slice(0, 4))).toEqual(["fits", "xxxx"]);
    expect(distinctOf(columnOf("text"), values, { search: "f" }).truncated).toBe(false);
    expect(distinctOf(columnOf("text"), values, { search: "zz" })).toEqual({
      values: [],
      truncated: true,
    });
  });

  it.each([
    ["a text", columnOf("text"), `${"x".repeat(2_000)} needle`],
    ["JSON", columnOf("json"), { text: `${"x".repeat(2_000)} needle` }],
    ["what does not fit", columnOf("number"), `${"x".repeat(2_000)} needle`],
  ])("are not called complete while %s may go on with what is searched for", (_, column, long) => {
    const found = { values: [], truncated: true };
    expect(distinctOf(column, ["a", 1, long], { search: "needle" })).toEqual(found);
    // The first of those that begin alike is whole.
    const same = ["x".repeat(2_000), long];
    expect(distinctOf(column, same, { search: "needle" })).toEqual(found);
    const others = Array.from({ length: 9_000 }, (_each, row) => `No. ${row}`);
    expect(distinctOf(column, [...others, long], { search: "needle" })).toEqual(found);
    expect(distinctOf(column, others, { search: "needle" }).truncated).toBe(false);
  });
});
