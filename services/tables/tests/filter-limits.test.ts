import { describe, expect, it } from "@jest/globals";
import type { Column } from "../src/domain/column.ts";
import { parseFilter } from "../src/domain/parse-filter.ts";
import type { FilterMode } from "../src/domain/parse-filter.ts";
import { problemsOf } from "./support/problems-of.ts";

/** More columns than one filter may name. */
const COLUMNS: readonly Column[] = Array.from({ length: 60 }, (_, index) => ({
  id: `c${index}`,
  name: `Column ${index}`,
  type: "json",
}));

const clauses = (count: number, clause: unknown = { values: [1] }, first = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${first + index}`, clause]));
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

function parse(filter: unknown, mode: FilterMode = "structured") {
  return parseFilter(JSON.stringify(filter), COLUMNS, mode);
}

function problemsWith(filter: unknown, mode: FilterMode = "structured") {
  return problemsOf(() => parse(filter, mode));
}

describe("a filter", () => {
  it("names 20 columns and not one more", () => {
    expect(parse(clauses(20))).toHaveLength(20);
    expect(parse(clauses(20, "x"), "legacyRows")).toHaveLength(20);
    const refusal = ["filter: must have at most 20 clauses on columns, not 21"];
    expect(problemsWith(clauses(21))).toEqual(refusal);
    expect(problemsWith(clauses(21, "x"), "legacyRows")).toEqual(refusal);
  });

  it("counts the columns of all any groups, once for each clause", () => {
    const any = (count: number) => numbers(count).map(() => ({ c0: { values: [1] } }));
    expect(parse({ ...clauses(10, undefined, 1), any: any(10) })).toHaveLength(11);
    expect(problemsWith({ ...clauses(10, undefined, 1), any: [{ any: any(11) }] })).toEqual([
      "filter: must have at most 20 clauses on columns, not 21",
    ]);
  });

  it("lists 500 values for a column and not one more", () => {
    for (const list of ["values", "excludedValues"]) {
      expect(parse({ c0: { [list]: numbers(500) } })).toHaveLength(1);
      expect(problemsWith({ c0: { [list]: numbers(501) } })).toEqual([
        `filter.c0.${list}: must have at most 500 values`,
      ]);
    }
    expect(problemsWith({ c0: { values: numbers(501).map(() => null) } })).toHaveLength(1);
  });

  it("lists 1,000 values in all and not one more", () => {
    const lists = (last: number) => ({
      c0: { values: numbers(500) },
      any: [{ c1: { excludedValues: numbers(499) } }, { c2: { values: numbers(last) } }],
    });
    expect(parse(lists(1))).toHaveLength(2);
    expect(problemsWith(lists(2))).toEqual([
      "filter: must list at most 1000 values in all, not 1001",
    ]);
  });

  it("has 50,000 characters as JSON and not one more, white space aside", () => {
    const filler = (chars: number) => {
      const values = numbers(40).map(() => "x".repeat(1_200));
      const rest = chars - JSON.stringify({ c0: { values }, c1: { values: [""] } }).length;
      return { c0: { values }, c1: { values: ["é".repeat(rest)] } };
    };
    expect(JSON.stringify(filler(50_000))).toHaveLength(50_000);
    expect(parse(filler(50_000))).toHaveLength(2);
    const spaced = JSON.stringify(filler(50_000), null, 20);
    expect(parseFilter(spaced, COLUMNS, "structured")).toHaveLength(2);
    expect(problemsWith(filler(50_001))).toEqual([
      "filter: must have at most 50000 characters as JSON",
    ]);
  });

  it("has 2,000 characters as JSON in a condition and not one more", () => {
    const condition = (chars: number) => {
      const empty = { operator: "equals", value: "" };
      return { ...empty, value: "x".repeat(chars - JSON.stringify(empty).length) };
    };
    expect(parse({ c0: { condition: condition(2_000) } })).toHaveLength(1);
    expect(problemsWith({ c0: { condition: condition(2_001) } })).toEqual([
      "filter.c0.condition: must have at most 2000 characters as JSON",
    ]);
  });

  it("has 2,000 characters as JSON in a listed value and not one more", () => {
    const value = (chars: number) => ({ a: "\n".repeat((chars - 8) / 2) });
    expect(JSON.stringify(value(2_000))).toHaveLength(2_000);
    expect(parse({ c0: { values: [value(2_000)] } })).toHaveLength(1);
    expect(problemsWith({ c0: { excludedValues: [1, "x".repeat(1_999)] } })).toEqual([
      "filter.c0.excludedValues.1: must have at most 2000 characters as JSON",
    ]);
  });

  it("has 2,000 characters as JSON in a scalar and not one more", () => {
    expect(parse({ c0: "x".repeat(1_998) }, "legacyRows")).toHaveLength(1);
    expect(problemsWith({ c0: "x".repeat(1_999) }, "legacyRows")).toEqual([
      "filter.c0: must have at most 2000 characters as JSON",
    ]);
  });

  it("has 100 filters in its any groups and not one more", () => {
    const any = (count: number) => numbers(count).map(() => ({}));
    expect(parse({ any: any(100) })).toEqual([]);
    expect(problemsWith({ any: [...any(50), { any: any(50) }] })).toEqual([
      "filter.any: must hold at most 100 filters, not 101",
    ]);
  });
});
