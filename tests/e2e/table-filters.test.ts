import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  condition,
  encode,
  expectBad,
  makeMixedTable,
  namesOf,
  problemsOf,
} from "../support/mixed-table.ts";
import { makeTable } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let id: string;
beforeAll(async () => {
  system = await startWholeSystem();
  id = await makeMixedTable(system);
});
afterAll(() => system.stop());

const query = (body?: object) => system.call("POST", `/tables/${id}/rows/query`, { body });
const queryText = (raw: string) => system.call("POST", `/tables/${id}/rows/query`, { raw });
const list = (params: Record<string, string> = {}) =>
  system.call("GET", `/tables/${id}/rows?${encode(params)}`);

describe("a filter", () => {
  it.each<[object, string[]]>([
    [{}, ["Ada", "Bob", "Cid", "Eve", "fay", "GUS"]],
    [{ n: condition("contains", "A") }, ["Ada", "fay"]],
    [{ n: condition("not_contains", "a") }, ["Bob", "Cid", "Eve", "GUS"]],
    [{ n: condition("equals", "aDA") }, ["Ada"]],
    [{ n: condition("not_equals", "ada") }, ["Bob", "Cid", "Eve", "fay", "GUS"]],
    [{ n: condition("starts_with", "g") }, ["GUS"]],
    [{ n: condition("ends_with", "E") }, ["Eve"]],
    [{ n: condition("contains", "100%_\\") }, ["fay"]],
    [{ n: condition("contains", "%") }, ["fay"]],
    [{ n: condition("ends_with", "\\") }, ["fay"]],
    [{ n: condition("contains", "_b") }, []],
    [{ web: condition("is_empty") }, ["Ada", "Bob", "Cid", "fay", "GUS"]],
    [{ web: condition("is_not_empty") }, ["Eve"]],
    [{ web: condition("starts_with", "HTTPS://") }, ["Eve"]],
    [{ mail: condition("ends_with", "@X.example") }, ["Bob"]],
    [{ state: condition("contains", "ON") }, ["Ada", "Cid"]],
    [{ state: condition("equals", "OPEN") }, ["Bob"]],
    [{ amount: condition("equals", 10) }, ["Ada", "fay"]],
    [{ amount: condition("not_equals", 10) }, ["Bob", "Cid", "Eve", "GUS"]],
    [{ amount: condition("greater_than", 0) }, ["Ada", "fay"]],
    [{ amount: condition("greater_than_or_equal", 0) }, ["Ada", "fay", "GUS"]],
    [{ amount: condition("less_than", 0) }, ["Bob"]],
    [{ amount: condition("less_than_or_equal", 0) }, ["Bob", "GUS"]],
    [{ amount: condition("is_empty") }, ["Eve"]],
    [{ amount: condition("is_not_empty") }, ["Ada", "Bob", "Cid", "fay", "GUS"]],
    [{ ok: condition("equals", true) }, ["Ada", "GUS"]],
    [{ ok: condition("not_equals", true) }, ["Bob", "Cid", "Eve", "fay"]],
    [{ ok: condition("is_empty") }, ["Eve"]],
    [{ ok: condition("is_not_empty") }, ["Ada", "Bob", "Cid", "fay", "GUS"]],
    [{ day: condition("equals", "2024-01-31") }, ["Ada"]],
    [{ day: condition("not_equals", "2024-01-31") }, ["Bob", "Cid", "Eve", "fay", "GUS"]],
    [{ day: condition("greater_than", "2024-01-31") }, ["Bob"]],
    [{ day: condition("greater_than_or_equal", "2024-01-31") }, ["Ada", "Bob"]],
    [{ day: condition("less_than", "2024-01-31") }, ["fay"]],
    [{ day: condition("less_than_or_equal", "2024-01-31") }, ["Ada", "fay"]],
    [{ day: condition("between", { start: "2023-12-31", end: "2024-01-31" }) }, ["Ada", "fay"]],
    [{ day: condition("between", { start: "2024-02-29", end: "2024-02-29" }) }, ["Bob"]],
    [{ day: condition("is_empty") }, ["Eve", "GUS"]],
    [{ doc: condition("contains", '"A":[2]') }, ["Ada", "Cid"]],
    [{ doc: condition("contains", '[2],"b"') }, ["Ada", "Cid"]],
    [{ doc: condition("equals", { b: 1, a: [2] }) }, ["Ada", "Cid"]],
    [{ doc: condition("is_empty") }, ["Bob", "Eve", "fay", "GUS"]],
    [{ "a/b c?%": condition("equals", "X") }, ["fay"]],
    [{ any: condition("equals", "thing") }, ["GUS"]],
    // Exact lists: raw values, letters as they are; null is the blank bucket.
    [{ amount: { values: [10] } }, ["Ada", "fay"]],
    [{ amount: { values: ["10", 0] } }, ["Cid", "GUS"]],
    [{ amount: { values: [null, -2.5] } }, ["Bob", "Eve"]],
    [{ n: { values: ["ada", "Bob"] } }, ["Bob"]],
    [{ n: { values: [] } }, []],
    [{ n: { excludedValues: ["Ada", "gus"] } }, ["Bob", "Cid", "Eve", "fay", "GUS"]],
    [{ n: { excludedValues: [] } }, ["Ada", "Bob", "Cid", "Eve", "fay", "GUS"]],
    [{ state: { excludedValues: [null, "open"] } }, ["Ada", "Cid", "fay"]],
    [{ day: { values: [null] } }, ["Eve", "GUS"]],
    [{ day: { values: [""] } }, ["Eve", "GUS"]],
    [{ doc: { values: [{ a: [2], b: 1 }] } }, ["Ada", "Cid"]],
    [{ ok: { values: [true] } }, ["Ada", "GUS"]],
    // All must hold: list and condition, and the clauses of several columns.
    [{ n: { values: ["Ada", "Bob"], ...condition("contains", "o") } }, ["Bob"]],
    [{ amount: condition("equals", 10), ok: condition("equals", false) }, ["fay"]],
    // At least one of the filters holds.
    [
      { any: [{ n: condition("equals", "ada") }, { amount: condition("less_than", 0) }] },
      ["Ada", "Bob"],
    ],
    [
      {
        ok: condition("equals", true),
        any: [{ n: condition("equals", "gus") }, { any: [{ n: { values: ["Ada"] } }] }],
      },
      ["Ada", "GUS"],
    ],
  ])("%j", async (filter, names) => {
    expect(namesOf(await query({ filter }))).toEqual(names);
    // The older route takes the same clauses.
    expect(namesOf(await list({ filter: JSON.stringify(filter) }))).toEqual(names);
  });

  it("may be about a column called __proto__", async () => {
    const raw = '{"filter":{"__proto__":{"condition":{"operator":"equals","value":"SECRET"}}}}';
    expect(namesOf(await queryText(raw))).toEqual(["GUS"]);
    const filter = '{"__proto__":{"values":["secret"]}}';
    expect(namesOf(await list({ filter }))).toEqual(["GUS"]);
  });

  it.each<[string, string[]]>([
    ['{"nothing":{"values":[]}}', ["filter", "nothing"]],
    ['{"extra":{"condition":{"operator":"equals","value":"x"}}}', ["filter", "extra"]],
    ['{"constructor":{"values":[1]}}', ["filter", "constructor"]],
    ['{"n":"Ada"}', ["filter", "n"]],
    ['{"n":null}', ["filter", "n"]],
    ['{"n":[]}', ["filter", "n"]],
    ['{"n":{"conditon":{"operator":"equals","value":"x"}}}', ["filter", "n"]],
    ['{"n":{"values":["a"],"excludedValues":["b"]}}', ["filter", "n"]],
    ['{"n":{"values":"a"}}', ["filter", "n", "values"]],
    ['{"n":{"condition":{"value":"a"}}}', ["filter", "n", "condition"]],
    ['{"n":{"condition":{"operator":"equals"}}}', ["filter", "n", "condition"]],
    ['{"n":{"condition":{"operator":"equals","value":1}}}', ["filter", "n", "condition"]],
    ['{"n":{"condition":{"operator":"greater_than","value":"a"}}}', ["filter", "n", "condition"]],
    ['{"n":{"condition":{"operator":"like","value":"a"}}}', ["filter", "n", "condition"]],
    ['{"amount":{"condition":{"operator":"contains","value":1}}}', ["filter", "amount"]],
    ['{"amount":{"condition":{"operator":"equals","value":"1"}}}', ["filter", "amount"]],
    ['{"amount":{"condition":{"operator":"equals","value":9007199254740993}}}', ["filter"]],
    ['{"amount":{"values":[1e400]}}', ["filter", "amount"]],
    ['{"ok":{"condition":{"operator":"equals","value":"true"}}}', ["filter", "ok"]],
    ['{"ok":{"condition":{"operator":"less_than","value":true}}}', ["filter", "ok"]],
    ['{"doc":{"condition":{"operator":"starts_with","value":"{"}}}', ["filter", "doc"]],
    ['{"day":{"condition":{"operator":"equals","value":"2024-01-31T00:00:00Z"}}}', ["filter"]],
    ['{"day":{"condition":{"operator":"equals","value":"2024-02-30"}}}', ["filter", "day"]],
    ['{"day":{"condition":{"operator":"between","value":"2024-01-01"}}}', ["filter", "day"]],
    [
      '{"day":{"condition":{"operator":"between","value":{"start":"2024-02-01","end":"2024-01-01"}}}}',
      ["filter", "day"],
    ],
    ['{"any":[1]}', ["filter", "any"]],
  ])("is refused with its place: %s", async (filter, path) => {
    expectBad(await queryText(`{"filter":${filter}}`), ...path);
  });

  it("of another type of column names the operators that it may have", async () => {
    const answer = await query({ filter: { doc: condition("between", 1) } });
    const [problem] = problemsOf(answer);
    for (const operator of ["contains", "not_contains", "equals", "not_equals", "is_empty"]) {
      expect(problem?.message).toContain(operator);
    }
  });
});

describe("the limits of a filter", () => {
  const values = (count: number) => Array.from({ length: count }, (_, index) => index);

  it("500 values a list, 1,000 in all", async () => {
    expect((await query({ filter: { amount: { values: values(500) } } })).status).toBe(200);
    expectBad(await query({ filter: { amount: { values: values(501) } } }), "filter");
    expectBad(await query({ filter: { amount: { excludedValues: values(501) } } }), "filter");
    const two = { amount: { values: values(500) }, n: { excludedValues: values(500) } };
    expect((await query({ filter: two })).status).toBe(200);
    expectBad(await query({ filter: { ...two, state: { values: [1] } } }), "filter");
  });

  it("2,000 characters a value, 50,000 in all", async () => {
    const text = (length: number) => "x".repeat(length);
    const exact = (length: number) => ({ filter: { n: { values: [text(length)] } } });
    expect((await query(exact(1_998))).status).toBe(200);
    expectBad(await query(exact(1_999)), "filter");
    const long = { n: { values: values(30).map((n) => `${n}${text(1_700)}`) } };
    expectBad(await query({ filter: long }), "filter");
  });

  it("20 columns", async () => {
    const columns = values(21).map((n) => ({ id: `c${n}`, name: `C${n}`, type: "text" }));
    const made = await makeTable(system, system.acme.key, { columns });
    const ask = (count: number) => {
      const clauses = values(count).map((n) => [`c${n}`, { values: [null] }]);
      const body = { filter: Object.fromEntries(clauses) };
      return system.call("POST", `/tables/${made.id}/rows/query`, { body });
    };
    expect((await ask(20)).status).toBe(200);
    expectBad(await ask(21), "filter");
  });

  it.each(["rows/query", "columns/n/values/query", "aggregate"])(
    "512 KiB the body of %s",
    async (route) => {
      const fixed = '{"measures":[{"fn":"count"}],"pad":""}';
      const send = (bytes: number) => {
        const pad = `"pad":"${"x".repeat(bytes - fixed.length)}"`;
        const raw = fixed.replace('"pad":""', pad);
        return system.call("POST", `/tables/${id}/${route}`, { raw });
      };
      expect((await send(512 * 1024)).status).toBe(200);
      expect(await send(512 * 1024 + 1)).toMatchObject({
        status: 413,
        error: { code: "PAYLOAD_TOO_LARGE" },
      });
    },
  );
});

describe("the older form of a filter", () => {
  it.each<[string, string[]]>([
    ['{"n":"a"}', ["Ada", "fay"]],
    ['{"n":"100%_"}', ["fay"]],
    ['{"extra":"hid"}', ["Eve"]],
    ['{"extra":5}', ["GUS"]],
    ['{"amount":"1"}', ["Ada", "Cid", "fay"]],
    ['{"amount":10}', ["Ada", "Cid", "fay"]],
    ['{"ok":true}', ["Ada", "Cid", "GUS"]],
    ['{"n":"a","amount":10}', ["Ada", "fay"]],
    ['{"nowhere":"x"}', []],
  ])("%s finds parts of texts, also under undeclared keys", async (filter, names) => {
    expect(namesOf(await list({ filter }))).toEqual(names);
  });

  it("has declared columns in its clauses, and in the filters of distinct values", async () => {
    expectBad(await list({ filter: '{"extra":{"values":["x"]}}' }), "filter", "extra");
    const path = `/tables/${id}/columns/n/values?`;
    expectBad(await system.call("GET", path + encode({ filter: '{"extra":"h"}' })), "filter");
    const found = await system.call("GET", path + encode({ filter: '{"amount":"10"}' }));
    expect(found.data).toMatchObject({
      values: [{ value: "Ada" }, { value: "Cid" }, { value: "fay 100%_\\" }],
    });
  });
});
