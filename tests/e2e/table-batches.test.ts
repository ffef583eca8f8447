import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import type { Answer } from "../support/api-client.ts";
import { makeTable, rowSchema, rowsOf, tableSchema } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const MIB = 1024 * 1024;
const UNKNOWN = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";
const violations = z.array(z.object({ path: z.array(z.string()), message: z.string() }));
const batchSchema = z.strictObject({
  inserted: z.array(rowSchema),
  updated: z.array(rowSchema),
  deleted: z.array(z.string()),
});

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const NOT_FOUND = { status: 404, error: { code: "NOT_FOUND" } };
const BAD_REQUEST = { status: 400, error: { code: "BAD_REQUEST" } };

const table = (content: Parameters<typeof makeTable>[2] = {}) =>
  makeTable(system, system.acme.key, content);

async function allRows(id: string) {
  return rowsOf(await system.call("GET", `/tables/${id}/rows?limit=100`));
}

async function rowCount(id: string): Promise<number> {
  return tableSchema.parse((await system.call("GET", `/tables/${id}`)).data).rowCount;
}

const pathsOf = (answer: Answer) =>
  violations.parse(answer.error?.details).map(({ path }) => path.join("."));

describe("a batch", () => {
  const batch = (id: string, body: unknown) =>
    system.call("POST", `/tables/${id}/rows/batch`, { body });

  it("inserts, updates and deletes", async () => {
    const { id, rowIds } = await table({ rows: [{ name: "a" }, { name: "b" }, { name: "c" }] });
    const [a = "", b = ""] = rowIds;
    const answer = await batch(id, {
      insert: [{ data: { name: "d" } }, { data: {} }],
      update: [{ id: a, data: { name: "A", x: [1] } }],
      delete: [b],
    });
    expect(answer.status).toBe(200);
    const done = batchSchema.parse(answer.data);
    expect(done.inserted.map(({ data }) => data)).toEqual([{ name: "d" }, {}]);
    expect(done.updated).toMatchObject([{ id: a, data: { name: "A", x: [1] } }]);
    expect(done.deleted).toEqual([b]);
    const names = (await allRows(id)).map(({ data }) => data["name"]);
    expect(names).toEqual(["A", "c", "d", undefined]);
    expect(await rowCount(id)).toBe(4);
  });

  it("hands data on as it was sent", async () => {
    const { id } = await table();
    const raw =
      '{"insert":[{"data":{"__proto__":1,"b":[],"a":"\\u00e9"}},{"data":{}, "data":{"z":1}}]}';
    const answer = await system.call("POST", `/tables/${id}/rows/batch`, { raw });
    expect(answer.text).toContain('"data":{"__proto__":1,"b":[],"a":"é"}');
    expect(answer.text).toContain('"data":{"z":1}');
  });

  it("does all or nothing", async () => {
    const { id, rowIds: own } = await table({ rows: [{ name: "a" }], fields: { maxRows: 3 } });
    const other = await table({ rows: [{ name: "x" }] });
    const [a = ""] = own;
    const change = { insert: [{ data: { name: "new" } }], update: [{ id: a, data: {} }] };
    const before = await allRows(id);

    for (const rowIds of [[UNKNOWN, other.rowIds[0]], ["no-id"]]) {
      const unknown = await batch(id, { ...change, delete: rowIds });
      expect(unknown).toMatchObject(NOT_FOUND);
      expect(unknown.error?.details).toEqual({ rowIds });
    }
    const twice = await batch(id, { ...change, delete: [a] });
    expect(twice).toMatchObject(BAD_REQUEST);
    const full = await batch(id, { insert: [{ data: {} }, { data: {} }, { data: {} }] });
    expect(full).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining("maximum row limit of 3") },
    });
    const raw = `{"insert":[{"data":{}},{"data":{"n":1e400}}],"update":[{"id":"${a}","data":{}}]}`;
    const bad = await system.call("POST", `/tables/${id}/rows/batch`, { raw });
    expect(bad).toMatchObject(BAD_REQUEST);
    expect(pathsOf(bad)).toEqual(["insert.1.data.n"]);
    expect(await allRows(id)).toEqual(before);
    expect(await rowCount(id)).toBe(1);
    // Within the batch there is room again for what it deletes.
    expect(await batch(id, { insert: [{ data: {} }, { data: {} }] })).toMatchObject({
      status: 200,
    });
  });

  it("has 1 to 1,000 changes", async () => {
    const { id } = await table();
    const message = "The request is not valid: it must have 1 to 1000 changes in all, not 0.";
    for (const body of [{}, { insert: [] }, { insert: [], update: [], delete: [] }]) {
      expect(await batch(id, body)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", message },
      });
    }
    const rows = (count: number) => ({
      insert: Array.from({ length: count }, () => ({ data: { name: "x" } })),
    });
    expect(await batch(id, rows(1_001))).toMatchObject(BAD_REQUEST);
    expect(await rowCount(id)).toBe(0);
    expect(await batch(id, rows(1_000))).toMatchObject({ status: 200 });
    expect(await rowCount(id)).toBe(1_000);
  });

  it.each<[object, string[]]>([
    [{ insert: {} }, ["insert"]],
    [{ insert: [{}] }, ["insert.0.data"]],
    [{ insert: [{ data: [] }] }, ["insert.0.data"]],
    [{ update: [{ data: {} }] }, ["update.0.id"]],
    [{ update: [{ id: 1, data: 2 }] }, ["update.0.id", "update.0.data"]],
    [{ delete: [1] }, ["delete.0"]],
    [{ delete: null }, ["delete"]],
  ])("is refused with the paths of its mistakes: %j", async (body, paths) => {
    const { id } = await table();
    const answer = await batch(id, body);
    expect(answer).toMatchObject(BAD_REQUEST);
    expect(pathsOf(answer)).toEqual(paths);
  });

  it("may have 8 MiB, and no more", async () => {
    const { id } = await table();
    const data = `{"data":{"a":"${"x".repeat(900_000)}"}}`;
    const fixed = `{"insert":[${Array(9).fill(data).join(",")}],"pad":""}`;
    const body = (bytes: number) =>
      fixed.replace('"pad":""', `"pad":"${"x".repeat(bytes - fixed.length)}"`);
    const over = await system.call("POST", `/tables/${id}/rows/batch`, { raw: body(8 * MIB + 1) });
    expect(over).toMatchObject({ status: 413, error: { code: "PAYLOAD_TOO_LARGE" } });
    const most = await system.call("POST", `/tables/${id}/rows/batch`, { raw: body(8 * MIB) });
    expect(most.status).toBe(200);
    expect(await rowCount(id)).toBe(9);
  });

  it("is of a table of the company", async () => {
    const theirs = await makeTable(system, system.globex.key);
    for (const id of [theirs.id, UNKNOWN, "no-id"]) {
      expect(await batch(id, { insert: [{ data: {} }] })).toMatchObject(NOT_FOUND);
    }
  });
});
