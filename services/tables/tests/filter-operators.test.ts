import { describe, expect, it } from "@jest/globals";
import { SortOrder } from "@workflow/proto/tables/v1/rows";
import type { ColumnType } from "../src/domain/column.ts";
import { parseSort } from "../src/domain/parse-sort.ts";
import { COLUMNS, columnOf, parse, problemsWith } from "./support/filter-columns.ts";
import { problemsOf } from "./support/problems-of.ts";

const TEXT = ["contains", "not_contains", "equals", "not_equals", "starts_with", "ends_with"];
const ORDER = [
  "equals",
  "not_equals",
  "greater_than",
  "greater_than_or_equal",
  "less_than",
  "less_than_or_equal",
];
const BLANK = ["is_empty", "is_not_empty"];

/** The operators of the contract with an operand that each takes. */
const OPERATORS: readonly [ColumnType, readonly string[], unknown][] = [
  ["text", TEXT, "Ab"],
  ["email", TEXT, "Ab"],
  ["url", TEXT, "Ab"],
  ["select", TEXT, "Ab"],
  ["json", ["contains", "not_contains", "equals", "not_equals"], "Ab"],
  ["number", ORDER, -1.5],
  ["date", ORDER, "2024-02-29"],
  ["boolean", ["equals", "not_equals"], false],
];
const ALL = [...new Set([...TEXT, ...ORDER, "between", ...BLANK])];

function filterBy(type: ColumnType, operator: unknown, value?: unknown) {
  return { [type]: { condition: { operator, value } } };
}

describe.each(OPERATORS)("a condition on a column of type %s", (type, operators, operand) => {
  it("has the operators of the contract", () => {
    const on = TEXT.every((each) => operators.includes(each)) || type === "json" ? "text" : type;
    for (const operator of operators) {
      expect(parse(filterBy(type, operator, operand))).toEqual([
        { kind: "column", column: columnOf(type), condition: { on, operator, value: operand } },
      ]);
    }
  });

  it("finds blanks without a value; one that is given is not looked at", () => {
    for (const operator of BLANK) {
      for (const value of [undefined, null, "", true, 5]) {
        expect(parse(filterBy(type, operator, value))).toEqual([
          { kind: "column", column: columnOf(type), condition: { on: "blank", operator } },
        ]);
      }
    }
  });

  it("has no other operators, and says which it has", () => {
    const own = [...operators, ...(type === "date" ? ["between"] : []), ...BLANK];
    const others = ALL.filter((operator) => !own.includes(operator));
    for (const operator of [
      ...others,
      "EQUALS",
      "",
      "constructor",
      "toString",
      null,
      5,
      undefined,
    ]) {
      expect(problemsWith(filterBy(type, operator, operand))).toEqual([
        `filter.${type}.condition.operator: must be one of ${own.join(", ")} for a column of type ${type}`,
      ]);
    }
  });

  it("needs a value", () => {
    for (const operator of operators) {
      const problems = problemsWith(filterBy(type, operator));
      expect(problems).toEqual([expect.stringMatching(/^filter\.\w+\.condition\.value: /)]);
    }
  });
});

describe("the operand of a condition", () => {
  const problemOf = (type: ColumnType, operator: string, value: unknown) =>
    problemsWith(filterBy(type, operator, value)).map((problem) =>
      problem.replace(`filter.${type}.condition.`, ""),
    );

  it.each(["text", "email", "url", "select"] as const)("is a string for %s", (type) => {
    for (const value of [5, true, null, ["a"], { a: 1 }]) {
      expect(problemOf(type, "equals", value)).toEqual(["value: must be a string"]);
    }
    expect(parse(filterBy(type, "contains", ""))).toHaveLength(1);
  });

  it("is a JSON number for number", () => {
    for (const value of ["5", "", true, null, [5], {}]) {
      expect(problemOf("number", "less_than", value)).toEqual(["value: must be a number"]);
    }
  });

  it("is a JSON boolean for boolean", () => {
    for (const value of ["true", 1, 0, null, [], {}]) {
      expect(problemOf("boolean", "equals", value)).toEqual(["value: must be true or false"]);
    }
  });

  it("is any value but null for json, compared as text", () => {
    const texts = [
      [5, "5"],
      [true, "true"],
      ["Ab", "Ab"],
      [[1, "a"], '[1,"a"]'],
      [{ b: 1, a: null }, '{"a":null,"b":1}'],
      [[{ b: 1, a: { 9: 0, 10: 0 } }], '[{"a":{"10":0,"9":0},"b":1}]'],
    ] as const;
    for (const [value, expected] of texts) {
      expect(parse(filterBy("json", "contains", value))).toMatchObject([
        { condition: { on: "text", operator: "contains", value: expected } },
      ]);
    }
    expect(problemOf("json", "equals", null)).toEqual([
      "value: must be a value other than null; is_empty finds blanks",
    ]);
  });

  it("is a day that exists for date; a time is refused", () => {
    for (const day of ["0001-01-01", "9999-12-31", "2024-02-29", "2000-02-29"]) {
      expect(parse(filterBy("date", "equals", day))).toHaveLength(1);
    }
    const wrong = [
      ["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "2024-01-00"],
      ["0000-01-01", "2024-1-1", "24-01-01", "2024/01/01", "2024-01-01 ", "+2024-01-01", ""],
      ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00", "２０２４-01-01", "20240101", "today"],
      [20240101, null, { start: "2024-01-01", end: "2024-01-02" }, ["2024-01-01", 1]],
    ].flat();
    for (const value of wrong) {
      expect(problemOf("date", "equals", value)).toEqual([
        "value: must be a day that exists, of the form YYYY-MM-DD",
      ]);
    }
  });

  it("is start and end for between, start not after end", () => {
    const between = (value: unknown) => problemOf("date", "between", value);
    expect(parse(filterBy("date", "between", { start: "2024-01-01", end: "2024-01-01" }))).toEqual([
      {
        kind: "column",
        column: columnOf("date"),
        condition: { on: "date", operator: "between", start: "2024-01-01", end: "2024-01-01" },
      },
    ]);
    expect(between({ start: "2024-01-02", end: "2024-01-01" })).toEqual([
      "value: must have a start that is not after its end",
    ]);
    expect(between({ start: "2024-01-02T00:00:00Z" })).toEqual([
      "value.start: must be a day that exists, of the form YYYY-MM-DD",
      "value.end: must be a day that exists, of the form YYYY-MM-DD",
    ]);
    for (const value of [undefined, null, "2024-01-01", ["2024-01-01", "2024-01-02"]]) {
      expect(between(value)).toEqual(["value: must be an object with start and end"]);
    }
  });
});

describe("the order of a query", () => {
  it("is by a declared column, ascending unless it says otherwise", () => {
    const column = columnOf("number");
    expect(parseSort("number", SortOrder.UNSPECIFIED, COLUMNS)).toEqual({
      column,
      descending: false,
    });
    expect(parseSort("number", SortOrder.ASC, COLUMNS)).toEqual({ column, descending: false });
    expect(parseSort("number", SortOrder.DESC, COLUMNS)).toEqual({ column, descending: true });
  });

  it("is the table's own without one", () => {
    expect(parseSort("", SortOrder.DESC, COLUMNS)).toBeNull();
  });

  it("names what it does not know", () => {
    expect(problemsOf(() => parseSort("__proto__", SortOrder.UNRECOGNIZED, COLUMNS))).toEqual([
      "sort: must be the id of a column that the table declares",
      "order: must be asc or desc",
    ]);
  });
});
