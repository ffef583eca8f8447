import { describe, expect, it } from "@jest/globals";
import type { Column } from "../src/domain/column.ts";
import { aggregateRows } from "../src/engine/index.ts";
import type { Measure, RowSource } from "../src/engine/index.ts";
import { columnOf, vectorOf } from "./support/engine-queries.ts";

const team = columnOf("select", ["red", "blue"], "team");
const points = columnOf("number", undefined, "points");
const day = columnOf("date", undefined, "day");
const ROWS = [
  ["blue", 0.1, "2024-05-01"],
  ["red", 5, "2024-05-02"],
  ["blue", 0.2, "2024-04-01"],
  [null, 1, "soon"],
  ["blue", "0.3", null],
  ["red", -5, ""],
  [7, null, "2024-01-01"],
] as const;

const EVERYTHING: readonly Measure[] = [
  { function: "count", column: null },
  { function: "count", column: points },
  { function: "sum", column: points },
  { function: "avg", column: points },
  { function: "min", column: points },
  { function: "max", column: day },
];

function tableOf(
  columns: readonly Column[],
  rows: readonly (readonly unknown[])[],
  dead: ReadonlySet<number> = new Set(),
): RowSource {
  const vectors = new Map(
    columns.map((column, place) => [
      column.id,
      vectorOf(
        column,
        rows.map((row) => row[place]),
      ),
    ]),
  );
  return {
    size: rows.length,
    liveCount: rows.length - dead.size,
    isLive: (index) => !dead.has(index),
    vector: (key, type) =>
      vectors.get(key) ?? vectorOf(columnOf(type === "any" ? "json" : type), []),
  };
}

const table = tableOf([team, points, day], ROWS);

describe("aggregates", () => {
  it("have a group for each value in the column's order, misfits and then blanks last", () => {
    expect(aggregateRows(table, { filter: [], groupBy: team, measures: EVERYTHING })).toEqual([
      { keyJson: '"red"', keyIsCut: false, valuesJson: ["2", "2", "0", "0", "-5", '"2024-05-02"'] },
      {
        keyJson: '"blue"',
        keyIsCut: false,
        valuesJson: ["3", "3", "0.30000000000000004", "0.15000000000000002", "0.1", '"2024-05-01"'],
      },
      {
        keyJson: "7",
        keyIsCut: false,
        valuesJson: ["1", "0", "0", "null", "null", '"2024-01-01"'],
      },
      { keyJson: "null", keyIsCut: false, valuesJson: ["1", "1", "1", "1", "1", "null"] },
    ]);
  });

  it("without a column to group by are one group, also of no rows", () => {
    expect(aggregateRows(table, { filter: [], groupBy: null, measures: EVERYTHING })).toEqual([
      {
        keyJson: "null",
        keyIsCut: false,
        valuesJson: ["7", "6", "1.2999999999999998", "0.25999999999999995", "-5", '"2024-05-02"'],
      },
    ]);
    const none = { on: "number", operator: "greater_than", value: 99 } as const;
    const filter = [{ kind: "column", column: points, condition: none }] as const;
    expect(aggregateRows(table, { filter, groupBy: null, measures: EVERYTHING })).toEqual([
      { keyJson: "null", keyIsCut: false, valuesJson: ["0", "0", "0", "null", "null", "null"] },
    ]);
    expect(aggregateRows(table, { filter, groupBy: team, measures: EVERYTHING })).toEqual([]);
  });

  it("are of live rows that pass the filter", () => {
    const found = aggregateRows(tableOf([team, points, day], ROWS, new Set([0])), {
      filter: [
        {
          kind: "column",
          column: points,
          condition: { on: "number", operator: "less_than", value: 1 },
        },
      ],
      groupBy: team,
      measures: [{ function: "count", column: null }],
    });
    expect(found).toEqual([
      { keyJson: '"red"', keyIsCut: false, valuesJson: ["1"] },
      { keyJson: '"blue"', keyIsCut: false, valuesJson: ["1"] },
    ]);
  });

  it("tell one group more than an answer may have, and no more", () => {
    const ids = Array.from({ length: 10_050 }, (_, row) => [row]);
    const groups = aggregateRows(tableOf([points], ids), {
      filter: [],
      groupBy: points,
      measures: [{ function: "sum", column: points }],
    });
    expect(groups).toHaveLength(10_001);
    expect(groups.at(-1)).toEqual({ keyJson: "10000", keyIsCut: false, valuesJson: ["10000"] });
  });

  const cutOf = (column: Column, values: readonly unknown[]) => {
    const table = tableOf(
      [column],
      values.map((value) => [value]),
    );
    const measures: readonly Measure[] = [{ function: "count", column: null }];
    return aggregateRows(table, { filter: [], groupBy: column, measures }).map(
      ({ keyIsCut, valuesJson }) => [keyIsCut, valuesJson[0]],
    );
  };

  it("mark a group that values of which only the beginning is kept may share", () => {
    const long = "x".repeat(2_000);
    expect(cutOf(columnOf("text"), [`${long}1`, `${long}2`, "x", null])).toEqual([
      [false, "1"],
      [true, "2"],
      [false, "1"],
    ]);
    expect(cutOf(columnOf("text"), ["x".repeat(1_999), long])).toEqual([
      [false, "1"],
      [false, "1"],
    ]);
    const emoji = `${"x".repeat(1_999)}😀`;
    expect(cutOf(columnOf("text"), [emoji])).toEqual([[true, "1"]]);
  });

  it("mark it also when its first value is not longer than what is kept", () => {
    const long = "x".repeat(2_000);
    for (const type of ["text", "select", "json"] as const) {
      expect(cutOf(columnOf(type), [long, `${long}1`, long])).toEqual([[true, "3"]]);
    }
  });

  it("mark it for values that do not fit and for objects", () => {
    const long = "x".repeat(2_000);
    expect(cutOf(columnOf("number"), [1, long, `${long}1`])).toEqual([
      [false, "1"],
      [true, "2"],
    ]);
    for (const type of ["number", "text", "json"] as const) {
      expect(cutOf(columnOf(type), [[`${long}1`], [`${long}2`]])).toEqual([[true, "2"]]);
    }
  });

  it("take objects for one value whatever the order of their members", () => {
    const rows = [
      [{ b: 1, a: [{ d: 2, c: 3 }] }],
      [{ a: [{ c: 3, d: 2 }], b: 1 }],
      [{ 9: 1, 10: 2 }],
    ];
    const measures: readonly Measure[] = [{ function: "count", column: null }];
    for (const type of ["json", "text"] as const) {
      const column = columnOf(type);
      const groups = aggregateRows(tableOf([column], rows), {
        filter: [],
        groupBy: column,
        measures,
      });
      const counts = new Map(groups.map(({ keyJson, valuesJson }) => [keyJson, valuesJson[0]]));
      expect(counts).toEqual(
        new Map([
          ['{"10":2,"9":1}', "1"],
          ['{"a":[{"c":3,"d":2}],"b":1}', "2"],
        ]),
      );
    }
  });
});
