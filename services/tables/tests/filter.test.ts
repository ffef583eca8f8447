import { describe, expect, it } from "@jest/globals";
import { parseFilter } from "../src/domain/parse-filter.ts";
import { withoutColumn } from "../src/domain/without-column.ts";
import { COLUMNS, columnOf, parse, problemsWith } from "./support/filter-columns.ts";
import { problemsOf } from "./support/problems-of.ts";

const condition = (operator: string, value?: unknown) => ({ condition: { operator, value } });
const number = columnOf("number");
const text = columnOf("text");

describe("a filter", () => {
  it("that is empty, or restricts nothing, lets every row pass", () => {
    expect(parseFilter("", COLUMNS, "structured")).toEqual([]);
    expect(parse({})).toEqual([]);
    expect(parse({ text: {}, number: {} })).toEqual([]);
  });

  it("has a clause for each column", () => {
    const filter = { text: condition("contains", "A"), number: condition("less_than", 5) };
    expect(parse(filter)).toEqual([
      { kind: "column", column: text, condition: { on: "text", operator: "contains", value: "A" } },
      {
        kind: "column",
        column: number,
        condition: { on: "number", operator: "less_than", value: 5 },
      },
    ]);
  });

  it("may have a condition and a list for one column", () => {
    const clause = { ...condition("is_not_empty"), excludedValues: ["a", null] };
    expect(parse({ text: clause })).toEqual([
      {
        kind: "column",
        column: text,
        condition: { on: "blank", operator: "is_not_empty" },
        list: { excluded: true, values: new Set(['"a"']), blanks: true },
      },
    ]);
  });

  it("lists values by their canonical JSON, and blanks apart", () => {
    const values = [1, 1.0, -0, "1", "A", "a", null, "", true, [2, 1], { b: 1, a: { d: 1, c: 2 } }];
    expect(parse({ json: { values } })).toMatchObject([
      {
        list: {
          excluded: false,
          blanks: true,
          values: new Set([
            "1",
            "0",
            '"1"',
            '"A"',
            '"a"',
            "true",
            "[2,1]",
            '{"a":{"c":2,"d":1},"b":1}',
          ]),
        },
      },
    ]);
    expect(parse({ json: { values: [] } })).toMatchObject([{ list: { values: new Set() } }]);
  });

  it.each(["[]", "null", "5", '"x"', "{", "{text:1}"])(
    "refuses %s, which is no object",
    (filter) => {
      expect(problemsOf(() => parseFilter(filter, COLUMNS, "legacyRows"))).toHaveLength(1);
    },
  );

  it("names unknown columns", () => {
    const filter = { ghost: condition("equals", 1), __proto: {}, "": {}, Text: {} };
    expect(problemsWith(filter)).toEqual([
      "filter.ghost: is no column that the table declares",
      "filter.__proto: is no column that the table declares",
      "filter.: is no column that the table declares",
      "filter.Text: is no column that the table declares",
    ]);
  });

  it("finds no columns among what objects of JavaScript have anyway", () => {
    const keys = ["__proto__", "constructor", "toString", "hasOwnProperty", "any"];
    for (const key of keys) {
      const filter = `{${JSON.stringify(key)}:{"values":[1]}}`;
      expect(problemsOf(() => parseFilter(filter, COLUMNS, "structured"))).toEqual([
        `filter.${key}: is no column that the table declares`,
      ]);
      const column = { id: key, name: "A", type: "text" } as const;
      expect(parseFilter(filter, [column], "structured")).toMatchObject([{ column }]);
    }
  });

  it.each([null, "a", 5, true, [], [1]])("refuses %j as a clause", (clause) => {
    expect(problemsWith({ text: clause })).toEqual([
      "filter.text: must be an object with condition, values or excludedValues",
    ]);
  });

  it("refuses members that it does not know: misspelt, they would let every row pass", () => {
    const filter = {
      text: { conditon: { operator: "equals", value: "a" } },
      number: { condition: { operator: "equals", value: 1, ignoreCase: true } },
      date: condition("between", { start: "2024-01-01", end: "2024-01-02", to: 1 }),
    };
    expect(problemsWith(filter)).toEqual([
      "filter.text.conditon: is not known; a clause has condition, values or excludedValues",
      "filter.number.condition.ignoreCase: is not known; a condition has operator and value",
      "filter.date.condition.value.to: is not known; a period has start and end",
    ]);
  });

  it("refuses included and excluded values of one column", () => {
    expect(problemsWith({ text: { values: [], excludedValues: [] } })).toEqual([
      "filter.text: must not have both values and excludedValues",
    ]);
  });

  it.each([null, "a", {}, 5])("refuses %j as a list or a condition", (value) => {
    expect(problemsWith({ text: { values: value } })).toHaveLength(1);
    expect(problemsWith({ text: { excludedValues: value } })).toHaveLength(1);
    expect(problemsWith({ text: { condition: value } }).length).toBeGreaterThan(0);
  });

  it("tells all problems at once, up to 50", () => {
    const filter = {
      ghost: {},
      text: condition("equals", 5),
      number: { values: "x" },
      any: [{ other: {} }, 5],
    };
    expect(problemsWith(filter)).toEqual([
      "filter.ghost: is no column that the table declares",
      "filter.text.condition.value: must be a string",
      "filter.number.values: must be an array of values; null in it stands for blanks",
      "filter.any.0.other: is no column that the table declares",
      "filter.any.1: must be an object whose keys are column ids",
    ]);
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`c${index}`, {}]));
    expect(problemsWith(many)).toHaveLength(50);
  });

  it("refuses numbers that a double cannot hold, wherever they stand (D5)", () => {
    const filter =
      '{"number":{"condition":{"operator":"equals","value":9007199254740993}},' +
      '"json":{"values":[[1e999]]},"text":{"excludedValues":[12345678901234567890]}}';
    expect(problemsOf(() => parseFilter(filter, COLUMNS, "structured"))).toEqual([
      expect.stringMatching(
        /^filter\.number\.condition\.value: is a number that would not be kept/,
      ),
      expect.stringMatching(/^filter\.json\.values\.0\.0: /),
      expect.stringMatching(/^filter\.text\.excludedValues\.0: /),
    ]);
  });

  it("refuses NUL and unpaired surrogates", () => {
    expect(
      problemsOf(() => parseFilter('{"text":{"values":["\\u0000"]}}', COLUMNS, "structured")),
    ).toEqual(["filter: must not contain NUL or unpaired surrogates"]);
    expect(
      problemsOf(() => parseFilter('{"text":{"values":["\\ud800"]}}', COLUMNS, "structured")),
    ).toHaveLength(1);
  });
});

describe("an any group (D36)", () => {
  const one = { text: condition("equals", "a") };
  const two = { number: { values: [1] } };

  it("holds filters of which one must hold, beside clauses that all must", () => {
    expect(parse({ any: [one, two], boolean: condition("equals", true) })).toEqual([
      { kind: "any", filters: [parse(one), parse(two)] },
      ...parse({ boolean: condition("equals", true) }),
    ]);
  });

  it("lets every row pass with a filter that does, and none without filters", () => {
    expect(parse({ any: [one, {}] })).toEqual([]);
    expect(parse({ any: [one, { number: {} }] })).toEqual([]);
    expect(parse({ any: [] })).toEqual([{ kind: "any", filters: [] }]);
  });

  it("may stand inside of others, five deep", () => {
    const nested = (depth: number): unknown => (depth === 0 ? one : { any: [nested(depth - 1)] });
    expect(parse(nested(5))).toHaveLength(1);
    expect(problemsWith(nested(6))).toEqual([
      "filter.any.0.any.0.any.0.any.0.any.0.any: must not stand inside of 5 other any groups",
    ]);
  });

  it("is the column of that id when it is an object", () => {
    const column = { id: "any", name: "Any", type: "number" } as const;
    const filter = JSON.stringify({ any: { values: [1] } });
    expect(parseFilter(filter, [column], "structured")).toMatchObject([{ kind: "column", column }]);
  });

  it("may hold scalars where the filter may", () => {
    expect(parse({ any: [{ ghost: "A" }, one] }, "legacyRows")).toEqual([
      { kind: "any", filters: [[{ kind: "substring", key: "ghost", text: "A" }], parse(one)] },
    ]);
  });
});

describe("the older filter of row queries", () => {
  it("takes scalars for declared and undeclared keys, as their text", () => {
    const filter = { text: "aB", number: 5, ghost: false, __proto: "", any: "x", json: 1.0 };
    expect(parse(filter, "legacyRows")).toEqual(
      Object.entries({ ...filter, number: "5", ghost: "false", json: "1" }).map(([key, part]) => ({
        kind: "substring",
        key,
        text: part,
      })),
    );
    expect(parseFilter('{"__proto__":"x"}', COLUMNS, "legacyRows")).toEqual([
      { kind: "substring", key: "__proto__", text: "x" },
    ]);
  });

  it("takes structured clauses for declared columns only", () => {
    expect(parse({ text: condition("equals", "a"), ghost: "b" }, "legacyRows")).toHaveLength(2);
    expect(problemsWith({ ghost: condition("equals", "a") }, "legacyRows")).toEqual([
      "filter.ghost: is no column that the table declares",
    ]);
  });

  it("refuses empty keys, null and arrays", () => {
    expect(problemsWith({ "": "a", text: null, number: [1] }, "legacyRows")).toEqual([
      "filter.: must have a key that is not empty",
      "filter.text: must be a string, a number, a boolean or an object with condition, values or excludedValues",
      "filter.number: must be a string, a number, a boolean or an object with condition, values or excludedValues",
    ]);
  });
});

describe("the older filter of distinct values", () => {
  it("takes scalars for declared columns only", () => {
    expect(parse({ text: "a" }, "legacyDistinct")).toEqual([
      { kind: "substring", key: "text", text: "a" },
    ]);
    expect(problemsWith({ ghost: "a" }, "legacyDistinct")).toEqual([
      "filter.ghost: is no column that the table declares",
    ]);
  });
});

describe("a filter without one column", () => {
  it("has lost that column's clauses, scalars too", () => {
    const filter = parse({ text: "a", number: condition("equals", 1), ghost: "b" }, "legacyRows");
    expect(withoutColumn(filter, "text")).toEqual(filter.slice(1));
    expect(withoutColumn(filter, "number")).toEqual([filter[0], filter[2]]);
    expect(withoutColumn(filter, "other")).toEqual(filter);
  });

  it("lets every row pass an any group in which a filter asked nothing else", () => {
    const filter = parse({
      any: [{ text: condition("equals", "a") }, { number: condition("equals", 1) }],
    });
    expect(withoutColumn(filter, "text")).toEqual([]);
    expect(withoutColumn(filter, "boolean")).toEqual(filter);
    const both = parse({
      any: [{ text: condition("equals", "a"), number: condition("equals", 1) }, { any: [] }],
    });
    expect(withoutColumn(both, "text")).toEqual(
      parse({ any: [{ number: condition("equals", 1) }, { any: [] }] }),
    );
  });
});
