import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import type { Answer } from "../support/api-client.ts";
import {
  condition,
  encode,
  expectBad,
  makeMixedTable,
  problemsOf,
} from "../support/mixed-table.ts";
import { makeTable } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const UNKNOWN = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";
const NOT_FOUND = { status: 404, error: { code: "NOT_FOUND" } };
const valuesSchema = z.strictObject({
  values: z.array(
    z.strictObject({ value: z.unknown(), label: z.string(), count: z.int().positive() }),
  ),
  truncated: z.boolean(),
});
const groupsSchema = z.strictObject({
  groups: z.array(z.strictObject({ key: z.unknown(), values: z.array(z.unknown()) })),
});

let system: WholeSystem;
let id: string;
beforeAll(async () => {
  system = await startWholeSystem();
  id = await makeMixedTable(system);
});
afterAll(() => system.stop());

describe("distinct values", () => {
  const ask = (column: string, body?: object) =>
    system.call("POST", `/tables/${id}/columns/${encodeURIComponent(column)}/values/query`, {
      body,
    });
  const valuesOf = (answer: Answer) => {
    expect(answer.error).toBeUndefined();
    return valuesSchema.parse(answer.data);
  };

  it("are counted in the order of the column, blanks last", async () => {
    expect(valuesOf(await ask("amount"))).toEqual({
      values: [
        { value: -2.5, label: "-2.5", count: 1 },
        { value: 0, label: "0", count: 1 },
        { value: 10, label: "10", count: 2 },
        { value: "10", label: "10", count: 1 },
        { value: null, label: "(Blanks)", count: 1 },
      ],
      truncated: false,
    });
    const states = valuesOf(await ask("state")).values.map(({ value }) => value);
    expect(states).toEqual(["open", "late", "done", "gone", null]);
    expect(valuesOf(await ask("doc")).values).toEqual([
      { value: { a: [2], b: 1 }, label: '{"a":[2],"b":1}', count: 2 },
      { value: null, label: "(Blanks)", count: 4 },
    ]);
  });

  it("are those of the rows that match the rest of the filter", async () => {
    const filter = { ok: condition("equals", false), amount: { values: [] } };
    const { values } = valuesOf(await ask("amount", { filter }));
    expect(values.map(({ value }) => value)).toEqual([-2.5, 10]);
    const legacy = await system.call(
      "GET",
      `/tables/${id}/columns/amount/values?${encode({ filter: JSON.stringify(filter) })}`,
    );
    expect(valuesOf(legacy).values).toEqual(values);
  });

  it("are searched by their labels, whatever the case, and cut at the limit", async () => {
    const found = valuesOf(await ask("n", { search: "A" }));
    expect(found.values.map(({ label }) => label.slice(0, 3))).toEqual(["Ada", "fay"]);
    expect(found.truncated).toBe(false);
    expect(valuesOf(await ask("amount", { search: "blank" })).values).toMatchObject([
      { value: null },
    ]);
    const cut = valuesOf(await ask("n", { limit: 2 }));
    expect(cut.values).toHaveLength(2);
    expect(cut.truncated).toBe(true);
    expect(valuesOf(await ask("n", { limit: 6 })).truncated).toBe(false);
    const byMembers = valuesOf(await ask("doc", { search: '[2],"B"' }));
    expect(byMembers.values.map(({ count }) => count)).toEqual([2]);
    const legacy = await system.call("GET", `/tables/${id}/columns/n/values?search=A&limit=1`);
    expect(valuesOf(legacy)).toMatchObject({ values: [{ value: "Ada" }], truncated: true });
  });

  it.each(["a/b c?%", "__proto__", "any"])("are of any column: %s", async (column) => {
    expect(valuesOf(await ask(column)).values).toHaveLength(2);
    const path = `/tables/${id}/columns/${encodeURIComponent(column)}/values`;
    expect(valuesOf(await system.call("GET", path)).values).toHaveLength(2);
  });

  it.each<[object, string]>([
    [{ limit: 0 }, "limit"],
    [{ limit: 501 }, "limit"],
    [{ search: "x".repeat(256) }, "search"],
    [{ search: 1 }, "search"],
    [{ filter: 1 }, "filter"],
    [{ filter: { nothing: { values: [] } } }, "filter"],
  ])("are refused for %j", async (body, field) => {
    expectBad(await ask("n", body), field);
  });

  it("may be asked for at their limits", async () => {
    expect((await ask("n", { limit: 500, search: "é".repeat(255) })).status).toBe(200);
    const legacy = `/tables/${id}/columns/n/values?limit=500&search=${"x".repeat(255)}`;
    expect((await system.call("GET", legacy)).status).toBe(200);
    expectBad(await system.call("GET", `${legacy}x`), "search");
    expectBad(await system.call("GET", `/tables/${id}/columns/n/values?limit=501`), "limit");
  });

  it("are of a declared column of a table of the company", async () => {
    expect(await ask("nothing")).toMatchObject(NOT_FOUND);
    expect(await ask("extra")).toMatchObject(NOT_FOUND);
    for (const tableId of [UNKNOWN, "no-id"]) {
      const path = `/tables/${tableId}/columns/n/values`;
      expect(await system.call("GET", path)).toMatchObject(NOT_FOUND);
      expect(await system.call("POST", `${path}/query`)).toMatchObject(NOT_FOUND);
    }
  });
});

describe("an aggregate", () => {
  const ask = (body: object) => system.call("POST", `/tables/${id}/aggregate`, { body });
  const groupsOf = (answer: Answer) => {
    expect(answer.error).toBeUndefined();
    return groupsSchema.parse(answer.data).groups;
  };
  const all = [
    { fn: "count" },
    { fn: "count", column: "amount" },
    { fn: "sum", column: "amount" },
    { fn: "avg", column: "amount" },
    { fn: "min", column: "amount" },
    { fn: "max", column: "day" },
  ];

  it("is computed of all rows, or of those that match", async () => {
    expect(groupsOf(await ask({ measures: all }))).toEqual([
      { key: null, values: [6, 5, 17.5, 4.375, -2.5, "2024-02-29"] },
    ]);
    const filter = { n: { values: ["Eve"] } };
    expect(groupsOf(await ask({ measures: all, filter }))).toEqual([
      { key: null, values: [1, 0, 0, null, null, null] },
    ]);
  });

  it("is computed by the values of a column", async () => {
    const measures = [{ fn: "count" }, { fn: "sum", column: "amount" }];
    expect(groupsOf(await ask({ measures, groupBy: "ok" }))).toEqual([
      { key: false, values: [2, 7.5] },
      { key: true, values: [2, 10] },
      { key: "true", values: [1, 0] },
      { key: null, values: [1, 0] },
    ]);
  });

  it.each<[object, string]>([
    [{}, "measures"],
    [{ measures: [] }, "measures"],
    [{ measures: Array.from({ length: 21 }, () => ({ fn: "count" })) }, "measures"],
    [{ measures: [{ fn: "median" }] }, "measures/0/fn"],
    [{ measures: [{ fn: "sum" }] }, "measures/0"],
    [{ measures: [{ fn: "sum", column: "n" }] }, "measures/0"],
    [{ measures: [{ fn: "sum", column: "nothing" }] }, "measures/0"],
    [{ measures: [{ fn: "min", column: "n" }] }, "measures/0"],
    [{ measures: [{ fn: "count" }], groupBy: "nothing" }, "groupBy"],
    [{ measures: [{ fn: "count" }], groupBy: 1 }, "groupBy"],
    [{ measures: [{ fn: "count" }], filter: { nothing: {} } }, "filter"],
  ])("is refused for %j", async (body, path) => {
    expectBad(await ask(body), path);
  });

  it("has no groups of values that are only known by their beginning", async () => {
    const long = "x".repeat(2_000);
    const made = await makeTable(system, system.acme.key, {
      columns: [{ id: "t", name: "T", type: "text" }],
      rows: [{ t: `${long}1` }, { t: `${long}2` }, { t: "short" }, { t: long }],
    });
    const figures = (filter: object) => {
      const body = { groupBy: "t", measures: [{ fn: "count" }], filter };
      return system.call("POST", `/tables/${made.id}/aggregate`, { body });
    };
    expect(problemsOf(await figures({}))).toEqual([
      {
        path: ["groupBy"],
        message: expect.stringMatching(/^has values of more than 2000 characters /),
      },
    ]);
    const whole = groupsOf(await figures({ t: { values: ["short"] } }));
    expect(whole).toEqual([{ key: "short", values: [1] }]);
    expectBad(await figures({ t: condition("starts_with", "xx") }), "groupBy");
  });

  it("is of a table of the company", async () => {
    const body = { measures: [{ fn: "count" }] };
    for (const tableId of [UNKNOWN, "no-id"]) {
      const answer = await system.call("POST", `/tables/${tableId}/aggregate`, { body });
      expect(answer).toMatchObject(NOT_FOUND);
    }
  });
});
