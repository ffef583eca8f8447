import { describe, expect, it } from "@jest/globals";
import type { Column } from "../src/domain/column.ts";
import type { Condition, OrderOperator, TextOperator } from "../src/domain/row-query.ts";
import { selectRows } from "../src/engine/index.ts";
import { columnOf, rowsOf, valuesIn, valuesWith, vectorOf } from "./support/engine-queries.ts";

const BLANKS = [null, undefined, ""];

describe.each(["text", "email", "url", "select"] as const)("a %s column", (type) => {
  const column = columnOf(type, type === "select" ? ["Apple"] : undefined);
  const values = ["Apple", "pineapple", "APPLE pie", "grape", 5, true, { a: "apple" }, ...BLANKS];
  const asked = (operator: TextOperator, value: string) =>
    valuesWith(column, values, { on: "text", operator, value });

  it("compares without regard to case, and only strings match", () => {
    expect(asked("contains", "aPPle")).toEqual(["Apple", "pineapple", "APPLE pie"]);
    expect(asked("equals", "APPLE")).toEqual(["Apple"]);
    expect(asked("starts_with", "apple")).toEqual(["Apple", "APPLE pie"]);
    expect(asked("ends_with", "APPLE")).toEqual(["Apple", "pineapple"]);
  });

  it("passes blanks and values that do not fit for the negated operators (D34)", () => {
    const others = ["grape", 5, true, { a: "apple" }, ...BLANKS];
    expect(asked("not_contains", "apple")).toEqual(others);
    expect(asked("not_equals", "apple")).toEqual(["pineapple", "APPLE pie", ...others]);
  });

  it("tells blanks from everything else", () => {
    const asBlank = (operator: "is_empty" | "is_not_empty") =>
      valuesWith(column, values, { on: "blank", operator });
    expect(asBlank("is_empty")).toEqual(BLANKS);
    expect(asBlank("is_not_empty")).toEqual(values.slice(0, 7));
  });

  it("finds the empty text in every string that is not blank", () => {
    const strings = values.slice(0, 4);
    expect(asked("contains", "")).toEqual(strings);
    expect(asked("starts_with", "")).toEqual(strings);
    expect(asked("ends_with", "")).toEqual(strings);
    expect(asked("equals", "")).toEqual([]);
    expect(asked("not_contains", "")).toEqual([5, true, { a: "apple" }, ...BLANKS]);
    expect(asked("not_equals", "")).toEqual(values);
  });
});

describe("letters", () => {
  const column = columnOf("text");
  const find = (values: readonly string[], value: string, operator: TextOperator = "contains") =>
    valuesWith(column, values, { on: "text", operator, value });

  it.each([
    ["ΣΟΦΟΣ", "σοφος"],
    ["σοφος", "ΣΟΦΟΣ"],
    ["σοφός ανήρ", "ΦΌΣ"],
    ["ÄRGER", "ärger"],
    ["\u212aelvin", "kelvin"],
  ])("of %s are found by %s", (value, wanted) => {
    expect(find([value], wanted)).toEqual([value]);
  });

  it("that fold to two units do not shift what stands behind them", () => {
    const values = ["İİİ end", "x", "endless İ", "y end"];
    expect(find(values, "end")).toEqual(["İİİ end", "endless İ", "y end"]);
    expect(find(values, "end", "ends_with")).toEqual(["İİİ end", "y end"]);
    expect(find(values, "İ", "ends_with")).toEqual(["endless İ"]);
  });

  it("are not normalised: é is not e with an accent after it", () => {
    expect(find(["caf\u00e9", "cafe\u0301"], "caf\u00c9")).toEqual(["caf\u00e9"]);
  });

  it("of pattern languages mean themselves", () => {
    const values = ["100%", "a_b", "c\\", "[x]", ".*", "plain"];
    for (const value of ["%", "_", "\\", "[x]", ".*"]) {
      expect(find(values, value)).toEqual(values.filter((each) => each.includes(value)));
    }
  });

  it("do not match across two rows, whatever stands between them in memory", () => {
    expect(find(["ab", "cd", "b\0c"], "b\0c")).toEqual(["b\0c"]);
    expect(find(["ab", "cd"], "b\0c")).toEqual([]);
  });
});

describe("a number column", () => {
  const column = columnOf("number");
  const values = [1, -1, 0, -0, 2.5, 1e300, 5e-324, -1e300, "1", true, [1], ...BLANKS];
  const asked = (operator: OrderOperator, value: number) =>
    valuesWith(column, values, { on: "number", operator, value });

  it("compares numbers, and nothing else matches", () => {
    expect(asked("equals", 1)).toEqual([1]);
    expect(asked("greater_than", 1)).toEqual([2.5, 1e300]);
    expect(asked("greater_than_or_equal", 1)).toEqual([1, 2.5, 1e300]);
    expect(asked("less_than", 0)).toEqual([-1, -1e300]);
    expect(asked("less_than_or_equal", -1)).toEqual([-1, -1e300]);
  });

  it("has one zero", () => {
    expect(asked("equals", -0)).toEqual([0, -0]);
    expect(asked("greater_than", -0)).toEqual([1, 2.5, 1e300, 5e-324]);
    expect(valuesIn(column, values, [-0])).toEqual([0, -0]);
  });

  it("has strict bounds at the ends of what a number can be", () => {
    expect(asked("greater_than", Number.MAX_VALUE)).toEqual([]);
    expect(asked("less_than", -Number.MAX_VALUE)).toEqual([]);
    expect(asked("less_than", 5e-324)).toEqual([-1, 0, -0, -1e300]);
  });

  it("passes blanks and values that do not fit for not_equals (D34)", () => {
    expect(asked("not_equals", 1)).toEqual(values.slice(1));
  });
});

describe("a date column", () => {
  const column = columnOf("date");
  const misfits = ["2023-02-30", "2023-01-01T00:00:00Z", "0000-01-01", 20230101];
  const values = ["2023-01-01", "0001-01-01", "9999-12-31", "2024-02-29", ...misfits, null];
  const asked = (condition: Condition) => valuesWith(column, values, condition);

  it("compares days that exist, and nothing else matches", () => {
    expect(asked({ on: "date", operator: "greater_than", value: "2023-01-01" })).toEqual([
      "9999-12-31",
      "2024-02-29",
    ]);
    expect(asked({ on: "date", operator: "less_than", value: "2023-01-01" })).toEqual([
      "0001-01-01",
    ]);
    expect(asked({ on: "date", operator: "not_equals", value: "2023-01-01" })).toEqual(
      values.slice(1),
    );
  });

  it("includes both ends of a period", () => {
    const between = { on: "date", operator: "between" } as const;
    expect(asked({ ...between, start: "0001-01-01", end: "2024-02-29" })).toEqual([
      "2023-01-01",
      "0001-01-01",
      "2024-02-29",
    ]);
  });
});

it("a boolean column compares booleans only", () => {
  const column = columnOf("boolean");
  const values = [true, false, "true", 0, null];
  const asked = (operator: "equals" | "not_equals", value: boolean) =>
    valuesWith(column, values, { on: "boolean", operator, value });
  expect(asked("equals", true)).toEqual([true]);
  expect(asked("equals", false)).toEqual([false]);
  expect(asked("not_equals", true)).toEqual([false, "true", 0, null]);
});

it("a JSON column compares the text of any value", () => {
  const column = columnOf("json");
  const values = ["5", 5, 15, { a: 5 }, [true], true, "TRUE", null];
  const asked = (operator: TextOperator, value: string) =>
    valuesWith(column, values, { on: "text", operator, value });
  expect(asked("contains", "5")).toEqual(["5", 5, 15, { a: 5 }]);
  expect(asked("equals", "5")).toEqual(["5", 5]);
  expect(asked("equals", '{"A":5}')).toEqual([{ a: 5 }]);
  expect(asked("not_equals", "true")).toEqual(["5", 5, 15, { a: 5 }, [true], null]);
});

it("a JSON column compares equal values alike, however their members are ordered", () => {
  const values = [
    { b: 1, a: [{ d: 2, c: 3 }] },
    { a: [{ c: 3, d: 2 }], b: 1 },
  ];
  const asked = (operator: TextOperator, value: string) =>
    valuesWith(columnOf("json"), values, { on: "text", operator, value });
  expect(asked("equals", '{"a":[{"c":3,"d":2}],"b":1}')).toEqual(values);
  expect(asked("contains", '2}],"B"')).toEqual(values);
  expect(asked("contains", '1,"a"')).toEqual([]);
});

describe("exact lists", () => {
  it("compare JSON values, strings with their case", () => {
    const values = ["a", "A", 1, "1", null, ""];
    expect(valuesIn(columnOf("text"), values, ["A"])).toEqual(["A"]);
    expect(valuesIn(columnOf("text"), values, ["A"], true)).toEqual(["a", 1, "1", null, ""]);
  });

  it.each(["text", "number", "boolean", "date", "select", "json"] as const)(
    "find values that do not fit a %s column",
    (type) => {
      const values = ["x", 7, false, "2020-02-02", { b: [1, { d: 1, c: 2 }], a: 1 }, [null], ""];
      for (const value of values) {
        expect(valuesIn(columnOf(type, ["x"]), values, [value])).toEqual([value]);
        expect(valuesIn(columnOf(type, ["x"]), values, [value], true)).toEqual(
          values.filter((each) => each !== value),
        );
      }
      expect(valuesIn(columnOf(type), values, [])).toEqual([]);
      expect(valuesIn(columnOf(type), values, [], true)).toEqual(values);
    },
  );

  it("take objects as equal whose members stand in another order", () => {
    const values = [{ b: 1, a: { d: 2, c: 3 } }, { a: { c: 3, d: 2 }, b: 1 }, { a: 1 }];
    expect(valuesIn(columnOf("json"), values, [values[1]])).toEqual(values.slice(0, 2));
    expect(valuesIn(columnOf("number"), values, [values[0]])).toEqual(values.slice(0, 2));
  });

  it("tell a string from other values with the same text", () => {
    const values = ["5", 5, '{"a":1}', { a: 1 }, "true", true];
    for (const value of values)
      expect(valuesIn(columnOf("json"), values, [value])).toEqual([value]);
  });
});

describe("clauses", () => {
  const text: Column = columnOf("text");
  const values = ["red", "green", "blue", null, 7];
  const contains = (value: string) =>
    ({
      kind: "column",
      column: text,
      condition: { on: "text", operator: "contains", value },
    }) as const;
  const find = (filter: Parameters<typeof selectRows>[1]["filter"], dead: number[] = []) => {
    const query = { filter, sort: null, limit: 10, offset: 0 };
    return [...selectRows(rowsOf(vectorOf(text, values), new Set(dead)), query).indexes];
  };

  it("must all hold", () => {
    expect(find([contains("r"), contains("e"), contains("n")])).toEqual([1]);
  });

  it("of an any group must hold in one of its filters, without leaving the rest of the filter", () => {
    const any = {
      kind: "any",
      filters: [[contains("red")], [contains("b"), contains("l")]],
    } as const;
    expect(find([any])).toEqual([0, 2]);
    expect(find([any, contains("u")])).toEqual([2]);
    expect(find([{ kind: "any", filters: [[any], [contains("green")]] }])).toEqual([0, 1, 2]);
    expect(find([{ kind: "any", filters: [[]] }])).toEqual([0, 1, 2, 3, 4]);
    expect(find([{ kind: "any", filters: [] }])).toEqual([]);
  });

  it("never find rows that are deleted", () => {
    expect(find([contains("e")], [1])).toEqual([0, 2]);
    expect(find([], [0, 4])).toEqual([1, 2, 3]);
  });
});
