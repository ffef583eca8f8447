import { describe, expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import {
  InvalidDefinitionError,
  checkCondition,
  compileCondition,
  evaluateCondition,
} from "../src/index.ts";
import type { TemplateScope } from "../src/index.ts";

const scope: TemplateScope = {
  input: {
    name: "Ada",
    amount: 12,
    tags: ["a", "B", { x: [1] }],
    empty: "",
    zero: 0,
    nothing: null,
  },
  trigger: {},
  run: {},
  steps: new Map(),
  secrets: new Map([["PATTERN", "^A"]]),
};

function holds(condition: unknown): boolean {
  return evaluateCondition(compileCondition(condition), scope);
}

const OPERATORS = [
  "equals",
  "not_equals",
  "contains",
  "not_contains",
  "starts_with",
  "ends_with",
  "greater_than",
  "greater_than_or_equal",
  "less_than",
  "less_than_or_equal",
  "in",
  "matches",
  "exists",
  "is_empty",
  "is_not_empty",
];

describe("operators", () => {
  it.each<[unknown, string, unknown, boolean]>([
    ["{{input.name}}", "equals", "Ada", true],
    [{ a: [1, { b: null }], c: 2 }, "equals", { c: 2, a: [1, { b: null }] }, true],
    [[1, 2], "equals", [2, 1], false],
    [{ a: 1 }, "equals", { a: 1, b: null }, false],
    [[], "equals", {}, false],
    ["1", "equals", 1, false],
    ["{{input.missing}}", "equals", null, true],
    ["1", "not_equals", 1, true],
    ["{{input.amount}}", "not_equals", 12, false],
    ["{{input.tags}}", "contains", "a", true],
    ["{{input.tags}}", "contains", { x: [1] }, true],
    ["{{input.tags}}", "contains", "b", false],
    ["hello", "contains", "ell", true],
    ["hello", "contains", 1, false],
    [{ key: 1 }, "contains", "key", true],
    [{}, "contains", "constructor", false],
    ["hello", "not_contains", "x", true],
    ["hello", "not_contains", "ell", false],
    [["a"], "not_contains", "b", true],
    [5, "not_contains", "x", false],
    [null, "not_contains", "x", false],
    ["hello", "starts_with", "he", true],
    ["hello", "ends_with", "lo", true],
    [12, "starts_with", "1", false],
    ["{{input.amount}}", "greater_than", 10, true],
    [10, "greater_than", 10, false],
    [10, "greater_than_or_equal", 10, true],
    [Infinity, "greater_than_or_equal", Infinity, true],
    [9, "less_than", 10, true],
    [10, "less_than_or_equal", 10, true],
    ["9", "less_than", 10, false],
    ["9", "less_than", "10", false],
    [null, "less_than", 1, false],
    ["2026-01-01", "less_than", "2026-01-02T00:00:00Z", true],
    ["2026-01-01T10:00:00+02:00", "less_than_or_equal", "2026-01-01T08:00:00Z", true],
    ["2026-01-01T10:00:00+02:00", "greater_than_or_equal", "2026-01-01T08:00:00Z", true],
    ["2026-01-01T00:00:00.123Z", "greater_than", "2026-01-01T00:00:00.122Z", true],
    ["2026-02-30", "greater_than", "2026-01-01", false],
    ["2026-01-01T25:00:00Z", "greater_than", "2026-01-01", false],
    ["b", "greater_than", "a", false],
    ["a", "in", ["a", "b"], true],
    [{ x: [1] }, "in", "{{input.tags}}", true],
    ["c", "in", ["a", "b"], false],
    ["el", "in", "hello", true],
    ["a", "in", 5, false],
    ["{{input.name}}", "matches", "d", true],
    ["{{input.name}}", "matches", "{{secrets.PATTERN}}", true],
    ["{{input.name}}", "matches", "^d", false],
    [5, "matches", "5", false],
    ["a", "matches", "{{input.amount}}", false],
  ])("%j %s %j is %s", (left, operator, right, expected) => {
    expect(holds({ left, operator, right })).toBe(expected);
  });

  it.each<[unknown, boolean, boolean]>([
    ["{{input.name}}", true, false],
    ["{{input.zero}}", true, false],
    [false, true, false],
    ["{{input.empty}}", true, true],
    [[], true, true],
    [{}, true, true],
    [[0], true, false],
    [" ", true, false],
    ["{{input.nothing}}", false, true],
    ["{{input.missing}}", false, true],
  ])("%j exists: %s, is empty: %s", (left, exists, empty) => {
    expect(holds({ left, operator: "exists" })).toBe(exists);
    expect(holds({ left, operator: "is_empty" })).toBe(empty);
    expect(holds({ left, operator: "is_not_empty" })).toBe(!empty);
  });

  it.each<[unknown, string, unknown]>([
    ["ADA", "equals", "ada"],
    ["ADA", "contains", "da"],
    [["ADA"], "contains", "ada"],
    [{ Key: 1 }, "contains", "kEY"],
    ["ADA", "starts_with", "ad"],
    ["ADA", "ends_with", "da"],
    ["ada", "in", ["ADA"]],
    ["ADA", "matches", "^a"],
  ])("ignoreCase: %j %s %j", (left, operator, right) => {
    expect(holds({ left, operator, right })).toBe(false);
    expect(holds({ left, operator, right, ignoreCase: true })).toBe(true);
  });
});

describe("groups", () => {
  const yes = { left: 1, operator: "equals", right: 1 };
  const no = { left: 1, operator: "equals", right: 2 };

  it.each([
    [{ all: [yes, yes] }, true],
    [{ all: [yes, no] }, false],
    [{ any: [no, yes] }, true],
    [{ any: [no, no] }, false],
    [{ not: no }, true],
    [{ not: { all: [yes, { any: [no, { not: no }] }] } }, false],
  ])("%j", (condition, expected) => {
    expect(holds(condition)).toBe(expected);
  });

  it("stops at the part that decides", () => {
    const missing = { left: "{{secrets.GONE}}", operator: "exists" };
    expect(holds({ any: [yes, missing] })).toBe(true);
    expect(holds({ all: [no, missing] })).toBe(false);
  });
});

describe("a bad condition is refused at its place", () => {
  it.each<[unknown, string[], string]>([
    [null, [], "must be a condition"],
    ["{{input.ok}}", [], "must be a condition"],
    [[], [], "must be a condition"],
    [{}, [], "exactly one of"],
    [{ all: [], any: [] }, [], "exactly one of"],
    [{ all: [] }, ["all"], "at least one condition"],
    [{ any: {} }, ["any"], "at least one condition"],
    [{ not: 5 }, ["not"], "must be a condition"],
    [
      { all: [{ not: { left: 1, operator: "eq", right: 1 } }] },
      ["all", "0", "not", "operator"],
      "must be equals, not_equals",
    ],
    [{ left: 1, operator: null }, ["operator"], "must be equals"],
    [{ operator: "exists" }, ["left"], "is required"],
    [{ left: 1, operator: "equals" }, ["right"], "is required"],
    [{ left: 1, operator: "equals", right: 1, ignoreCase: "yes" }, ["ignoreCase"], "true or false"],
    [{ left: "{{nope}}", operator: "exists" }, ["left"], "unknown root"],
    [{ left: { a: ["{{nope}}"] }, operator: "exists" }, ["left", "a", "0"], "unknown root"],
    [{ left: "a", operator: "matches", right: 5 }, ["right"], "regular expression as a string"],
  ])("%j", (condition, path, message) => {
    const [violation] = checkCondition(condition);
    expect(violation?.path).toEqual(path);
    expect(violation?.message).toContain(message);
    expect(() => compileCondition(condition)).toThrow(InvalidDefinitionError);
  });

  it.each([
    ["(?=a)", "not a usable pattern"],
    ["a{1001}", "not a usable pattern"],
    ["a".repeat(1001), "at most 1000"],
  ])("matches %.10j, which only whoever tries it finds out", (right, message) => {
    const condition = { left: "a", operator: "matches", right };
    const [violation] = checkCondition(condition);
    expect(violation?.path).toEqual(["right"]);
    expect(violation?.message).toContain(message);
    expect(() => compileCondition(condition)).not.toThrow();
  });

  it("nests at most 32 deep", () => {
    let condition: unknown = { left: 1, operator: "exists" };
    for (let level = 0; level < 5_000; level += 1) condition = { not: condition };
    expect(checkCondition(condition)[0]?.message).toContain("at most 32 deep");
  });
});

describe("hostile values", () => {
  it("no pattern blocks, and one that would cost too much fails", () => {
    const text = "a".repeat(50_000) + "!";
    expect(holds({ left: text, operator: "matches", right: "^(a+)+$" })).toBe(false);
    expect(() =>
      holds({ left: text.repeat(20), operator: "matches", right: "(a|b)*a(a|b){900}[cd]" }),
    ).toThrow("is not tried");
  });

  it("compares values nested ten thousand deep", () => {
    const deep = (levels: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level += 1) value = [value];
      return value;
    };
    const compiled = compileCondition({
      left: "{{input.a}}",
      operator: "equals",
      right: "{{input.b}}",
    });
    const evaluateWith = (a: unknown, b: unknown) =>
      evaluateCondition(compiled, { ...scope, input: { a, b } });
    expect(evaluateWith(deep(10_000), deep(10_000))).toBe(true);
    expect(evaluateWith(deep(10_000), deep(10_001))).toBe(false);
  });

  it("any two JSON values give true or false, and each negation is right", () => {
    const cases = fc.record({
      a: fc.jsonValue(),
      b: fc.jsonValue(),
      operator: fc.constantFrom(...OPERATORS),
      ignoreCase: fc.boolean(),
    });
    fc.assert(
      fc.property(cases, ({ a, b, operator, ignoreCase }) => {
        const ask = (name: string) =>
          evaluateCondition(
            compileCondition({
              left: "{{input.a}}",
              operator: name,
              right: "{{input.b}}",
              ignoreCase,
            }),
            { ...scope, input: { a, b } },
          );
        expect(typeof ask(operator)).toBe("boolean");
        expect(ask("equals")).toBe(!ask("not_equals"));
        expect(ask("contains") && ask("not_contains")).toBe(false);
        expect(ask("is_empty")).toBe(!ask("is_not_empty"));
        expect(ask("greater_than") && ask("less_than_or_equal")).toBe(false);
      }),
    );
  });

  it("a value equals its copy with shuffled keys", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy: unknown = JSON.parse(JSON.stringify(value), (_, inner: unknown) =>
          typeof inner === "object" && inner !== null && !Array.isArray(inner)
            ? Object.fromEntries(Object.entries(inner).toReversed())
            : inner,
        );
        const normal: unknown = JSON.parse(JSON.stringify(value));
        const compiled = compileCondition({
          left: "{{input.a}}",
          operator: "equals",
          right: "{{input.b}}",
        });
        expect(evaluateCondition(compiled, { ...scope, input: { a: normal, b: copy } })).toBe(true);
      }),
    );
  });
});
