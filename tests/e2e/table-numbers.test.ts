import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { condition, encode, expectBad } from "../support/mixed-table.ts";
import { makeTable, rowsOf } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/** As JavaScript prints them; 1e20 would be an integer beyond 2^53 (D5). */
const LARGE = 1e21;
const SMALL = 1e-7;
const DIGITS = "1000000000000000000000";
const COLUMNS = [
  { id: "n", name: "N", type: "number" },
  { id: "doc", name: "Doc", type: "json" },
];

let system: WholeSystem;
let id: string;
beforeAll(async () => {
  system = await startWholeSystem();
  id = (await makeTable(system, system.acme.key, { columns: COLUMNS })).id;
  for (const source of ["1e21", "-1E+21", "1e-7", "0.0000001", "5"]) {
    const raw = `{"data":{"n":${source},"doc":{"of":${source}}}}`;
    const added = await system.call("POST", `/tables/${id}/rows`, { raw });
    expect(added.status).toBe(201);
  }
});
afterAll(() => system.stop());

async function numbersBy(body: object | string): Promise<unknown[]> {
  const options = typeof body === "string" ? { raw: body } : { body };
  const answer = await system.call("POST", `/tables/${id}/rows/query`, options);
  expect(answer.error).toBeUndefined();
  return rowsOf(answer).map(({ data }) => data["n"]);
}

const filtered = (filter: object) => numbersBy({ filter });

const distinctSchema = z.object({
  values: z.array(z.object({ value: z.unknown(), label: z.string(), count: z.number() })),
});

async function distinct(columnId: string, body: object = {}) {
  const path = `/tables/${id}/columns/${columnId}/values/query`;
  const { values } = distinctSchema.parse((await system.call("POST", path, { body })).data);
  return values.map(({ value, label, count }) => [value, label, count]);
}

describe("a number with an exponent", () => {
  it("is kept, found and sorted like any other", async () => {
    expect(await numbersBy({ sort: "n" })).toEqual([-LARGE, SMALL, SMALL, 5, LARGE]);
    expect(await filtered({ n: condition("equals", LARGE) })).toEqual([LARGE]);
    expect(await numbersBy('{"filter":{"n":{"values":[1e21,0.1e-6]}}}')).toEqual([
      LARGE,
      SMALL,
      SMALL,
    ]);
    expect(await filtered({ n: condition("not_equals", SMALL) })).toEqual([LARGE, -LARGE, 5]);
    expect(await filtered({ n: condition("less_than", SMALL) })).toEqual([-LARGE]);
    expect(await filtered({ n: { excludedValues: [LARGE, 5] } })).toEqual([-LARGE, SMALL, SMALL]);
  });

  it("has one text wherever numbers are texts", async () => {
    expect(await distinct("n")).toEqual([
      [-LARGE, "-1e+21", 1],
      [SMALL, "1e-7", 2],
      [5, "5", 1],
      [LARGE, "1e+21", 1],
    ]);
    expect(await distinct("n", { search: "E-7" })).toEqual([[SMALL, "1e-7", 2]]);
    expect(await filtered({ doc: condition("contains", LARGE) })).toEqual([LARGE, -LARGE]);
    expect(await filtered({ doc: condition("equals", { of: SMALL }) })).toEqual([SMALL, SMALL]);
    for (const n of [SMALL, "1e-7"]) {
      const query = encode({ filter: JSON.stringify({ n }) });
      const rows = rowsOf(await system.call("GET", `/tables/${id}/rows?${query}`));
      expect(rows.map(({ data }) => data["n"])).toEqual([SMALL, SMALL]);
    }
  });

  it("survives an export and an import", async () => {
    const file = await fetch(`${system.origin}/api/v1/tables/${id}/rows/export?format=csv`, {
      headers: { "x-api-key": system.acme.key },
    });
    const text = await file.text();
    expect(text.split("\r\n").slice(1, 4)).toEqual([
      '1e+21,"{""of"":1e+21}"',
      '-1e+21,"{""of"":-1e+21}"',
      '1e-7,"{""of"":1e-7}"',
    ]);
    const columns = JSON.stringify(COLUMNS.map(({ name, type }) => ({ name, type })));
    const query = encode({ format: "csv", name: "Again", columns });
    const imported = await system.call("POST", `/tables/import?${query}`, {
      raw: text,
      headers: { "content-type": "text/csv" },
    });
    const { id: again } = z.object({ id: z.string() }).parse(imported.data);
    const rows = rowsOf(await system.call("POST", `/tables/${again}/rows/query`, { body: {} }));
    expect(rows.map(({ data }) => data["N"])).toEqual([LARGE, -LARGE, SMALL, SMALL, 5]);
  });

  it("is refused where it is written as an integer that a double does not tell from others", async () => {
    for (const source of [DIGITS, "1e20", "9007199254740993"]) {
      const row = await system.call("POST", `/tables/${id}/rows`, {
        raw: `{"data":{"n":${source}}}`,
      });
      expectBad(row, "data", "n");
      for (const clause of [
        `{"condition":{"operator":"equals","value":${source}}}`,
        `{"values":[1,${source}]}`,
        `{"excludedValues":[${source}]}`,
      ]) {
        const path = clause.includes("condition") ? ["condition", "value"] : [];
        const raw = `{"filter":{"n":${clause}}}`;
        const page = await system.call("POST", `/tables/${id}/rows/query`, { raw });
        expectBad(page, "filter", "n", ...path);
        const values = `/tables/${id}/columns/doc/values/query`;
        expectBad(await system.call("POST", values, { raw }), "filter", "n", ...path);
        const query = encode({ filter: `{"n":${clause}}` });
        expectBad(await system.call("GET", `/tables/${id}/rows?${query}`), "filter", "n", ...path);
      }
    }
  });
});
