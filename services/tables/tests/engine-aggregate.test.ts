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
      { keyJson: '"red"', valuesJson: ["2", "2", "0", "0", "-5", '"2024-05-02"'] },
      {
        keyJson: '"blue"',
        valuesJson: ["3", "3", "0.30000000000000004", "0.15000000000000002", "0.1", '"2024-05-01"'],
      },
      { keyJson: "7", valuesJson: ["1", "0", "0", "null", "null", '"2024-01-01"'] },
      { keyJson: "null", valuesJson: ["1", "1", "1", "1", "1", "null"] },
    ]);
  });

  it("without a column to group by are one group, also of no rows", () => {
    expect(aggregateRows(table, { filter: [], groupBy: null, measures: EVERYTHING })).toEqual([
      {
        keyJson: "null",
        valuesJson: ["7", "6", "1.2999999999999998", "0.25999999999999995", "-5", '"2024-05-02"'],
      },
    ]);
    const none = { on: "number", operator: "greater_than", value: 99 } as const;
    const filter = [{ kind: "column", column: points, condition: none }] as const;
    expect(aggregateRows(table, { filter, groupBy: null, measures: EVERYTHING })).toEqual([
      { keyJson: "null", valuesJson: ["0", "0", "0", "null", "null", "null"] },
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
      { keyJson: '"red"', valuesJson: ["1"] },
      { keyJson: '"blue"', valuesJson: ["1"] },
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
    expect(groups.at(-1)).toEqual({ keyJson: "10000", valuesJson: ["10000"] });
  });

  it("take texts that agree in all that is kept of them as one group", () => {
    const long = "x".repeat(2_500);
    const text = columnOf("text", undefined, "text");
    const rows = [
      [long, 1],
      [`${long}y`, 2],
      ["x", 4],
    ];
    const groups = aggregateRows(tableOf([text, points], rows), {
      filter: [],
      groupBy: text,
      measures: [{ function: "sum", column: points }],
    });
    expect(groups.map(({ keyJson, valuesJson }) => [keyJson.length, valuesJson])).toEqual([
      [3, ["4"]],
      [2_002, ["3"]],
    ]);
  });
});
