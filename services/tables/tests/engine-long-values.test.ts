import { describe, expect, it } from "@jest/globals";
import type { Column } from "../src/domain/column.ts";
import type { ColumnClause, SubstringClause, TextOperator } from "../src/domain/row-query.ts";
import {
  hasLong,
  longIndexes,
  matchesValue,
  needsWholeValue,
  selectRows,
} from "../src/engine/index.ts";
import type { RowSource } from "../src/engine/index.ts";
import { columnOf, listOf, rowsOf, vectorOf } from "./support/engine-queries.ts";

const text = columnOf("text");
const json = columnOf("json");
const LONG = `${"x".repeat(2_500)}End`;

function textClause(column: Column, operator: TextOperator, value: string): ColumnClause {
  return { kind: "column", column, condition: { on: "text", operator, value } };
}

/** Rows that match, with the whole values at hand when the engine asks for them. */
function found(
  column: Column,
  values: readonly unknown[],
  clause: ColumnClause | SubstringClause,
): number[] {
  const vector = vectorOf(column, values);
  const source: RowSource = {
    ...rowsOf(vector),
    longMatches: (asked) =>
      new Set(longIndexes(vector).filter((row) => matchesValue(asked, values[row]))),
  };
  const query = { filter: [clause], sort: null, limit: 100, offset: 0 };
  return [...selectRows(source, query).indexes];
}

describe("values of which only the beginning is kept", () => {
  it("are those with over 2,000 units that fit their column", () => {
    const values = ["x".repeat(2_000), "x".repeat(2_001), [LONG], null];
    expect(longIndexes(vectorOf(text, values))).toEqual([1]);
    expect(longIndexes(vectorOf(json, values))).toEqual([1, 2]);
    expect(hasLong(vectorOf(text, values.slice(0, 1)))).toBe(false);
    expect(hasLong(vectorOf(columnOf("number"), values))).toBe(false);
  });

  it("follow their rows when these change or are cleared away", () => {
    const vector = vectorOf(text, ["a", LONG, "b", LONG]);
    vector.set(1, "short");
    vector.set(2, LONG);
    expect(longIndexes(vector)).toEqual([2, 3]);
    vector.keep(Int32Array.of(0, 3));
    expect(longIndexes(vector)).toEqual([1]);
  });

  it.each([
    ["contains", "END", [0]],
    ["not_contains", "end", [1, 2, 3]],
    ["ends_with", "xend", [0]],
    ["starts_with", "XXX", [0, 1]],
    ["equals", LONG.slice(0, 1_990), []],
    ["not_equals", LONG.slice(0, 1_990), [0, 1, 2, 3]],
  ] as const)("%s looks at all of them", (operator, operand, rows) => {
    const values = [LONG, "x".repeat(2_500), "short", null];
    expect(found(text, values, textClause(text, operator, operand))).toEqual(rows);
    if (operator === "starts_with" || operator === "ends_with") return;
    const wrapped = values.map((value) => value && [value]);
    expect(found(json, wrapped, textClause(json, operator, operand))).toEqual(rows);
  });

  it("are found by the older form of a clause", () => {
    const vector = { kind: "substring", key: "c", text: "xEND" } as const;
    expect(found(json, [LONG, "x".repeat(2_500), null], vector)).toEqual([0]);
  });

  it("equal no listed value", () => {
    const beginning = LONG.slice(0, 2_000);
    const values = [LONG, beginning];
    const clause = (excluded: boolean): ColumnClause => ({
      kind: "column",
      column: text,
      list: listOf([beginning], excluded),
    });
    expect(found(text, values, clause(false))).toEqual([1]);
    expect(found(text, values, clause(true))).toEqual([0]);
  });

  it("can equal an operand that is shorter than they are", () => {
    const value = "i\u0307".repeat(1_001);
    const clause = textClause(text, "equals", "İ".repeat(1_001));
    expect(needsWholeValue(clause)).toBe(true);
    expect(found(text, [value, `${value}!`, "İ".repeat(1_001)], clause)).toEqual([0, 2]);
  });

  it("are asked for only by clauses that look beyond the beginning", () => {
    expect(needsWholeValue(textClause(text, "contains", "a"))).toBe(true);
    expect(needsWholeValue(textClause(text, "equals", "a"))).toBe(false);
    expect(needsWholeValue(textClause(text, "starts_with", "a"))).toBe(false);
    expect(needsWholeValue({ kind: "column", column: text, list: listOf(["a"]) })).toBe(false);
    expect(needsWholeValue({ kind: "substring", key: "c", text: "a" })).toBe(true);
  });

  it("are decided together with a list in the same clause", () => {
    const clause: ColumnClause = {
      ...textClause(text, "contains", "end"),
      list: listOf(["end"], true),
    };
    expect(found(text, [LONG, "end", "the end"], clause)).toEqual([0, 2]);
  });

  it("have a surrogate pair cut in two without harm", () => {
    const value = `${"x".repeat(1_999)}😀😀`;
    expect(found(text, [value], textClause(text, "contains", "😀😀"))).toEqual([0]);
    expect(found(text, [value], textClause(text, "starts_with", "xx"))).toEqual([0]);
  });
});
