import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import type { Answer } from "../support/api-client.ts";
import { makeTable, rowSchema, rowsOf, tableSchema } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const MIB = 1024 * 1024;
const UNKNOWN = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";
const violations = z.array(z.object({ path: z.array(z.string()), message: z.string() }));

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const NOT_FOUND = { status: 404, error: { code: "NOT_FOUND" } };
const BAD_REQUEST = { status: 400, error: { code: "BAD_REQUEST" } };

const table = (content: Parameters<typeof makeTable>[2] = {}) =>
  makeTable(system, system.acme.key, content);

const insert = (id: string, data: unknown) =>
  system.call("POST", `/tables/${id}/rows`, { body: { data } });

async function insertedRow(id: string, data: object) {
  const answer = await insert(id, data);
  expect(answer.error).toBeUndefined();
  expect(answer.status).toBe(201);
  return rowSchema.parse(answer.data);
}

async function allRows(id: string) {
  return rowsOf(await system.call("GET", `/tables/${id}/rows?limit=100`));
}

async function rowCount(id: string): Promise<number> {
  return tableSchema.parse((await system.call("GET", `/tables/${id}`)).data).rowCount;
}

const pathsOf = (answer: Answer) =>
  violations.parse(answer.error?.details).map(({ path }) => path.join("."));

describe("a new row", () => {
  it("has its data as it was sent, undeclared keys included, and comes last", async () => {
    const { id } = await table();
    const data = { name: "Ada", other: [1, { a: null }], "": "", "a/b": true, "10": 1, "9": 2 };
    const first = await insertedRow(id, data);
    const second = await insertedRow(id, {});
    expect(first.data).toEqual(data);
    expect(Number(second.position)).toBeGreaterThan(Number(first.position));
    expect(first.updatedAt).toBe(first.createdAt);
    expect((await allRows(id)).map((row) => row.id)).toEqual([first.id, second.id]);
    expect(await rowCount(id)).toBe(2);
  });

  it("keeps keys such as __proto__ and the order of members", async () => {
    const { id } = await table();
    const raw = '{"data":{"__proto__":{"x":1},"b":1,"a":2,"constructor":"c"}}';
    const answer = await system.call("POST", `/tables/${id}/rows`, { raw });
    expect(answer.status).toBe(201);
    expect(answer.text).toContain('"data":{"__proto__":{"x":1},"b":1,"a":2,"constructor":"c"}');
    const page = await system.call("GET", `/tables/${id}/rows`);
    expect(page.text).toContain('"data":{"__proto__":{"x":1},"b":1,"a":2,"constructor":"c"}');
  });

  it.each(["{}", '{"data":null}', '{"data":[]}', '{"data":"x"}', '{"data":1}'])(
    "needs an object for its data: %s",
    async (raw) => {
      const { id } = await table();
      const answer = await system.call("POST", `/tables/${id}/rows`, { raw });
      expect(answer).toMatchObject(BAD_REQUEST);
      expect(pathsOf(answer)).toEqual(["data"]);
    },
  );

  it.each([
    ['{"data":{"n":9007199254740993}}', ["data", "n"]],
    ['{"data":{"n":-9007199254740993}}', ["data", "n"]],
    ['{"data":{"a":[{"n":1e400}]}}', ["data", "a", "0", "n"]],
  ])("has only numbers that a double holds: %s", async (raw, path) => {
    const { id } = await table();
    const answer = await system.call("POST", `/tables/${id}/rows`, { raw });
    expect(answer).toMatchObject(BAD_REQUEST);
    expect(pathsOf(answer)).toEqual([path.join(".")]);
    expect(await rowCount(id)).toBe(0);
  });

  it("may have the largest numbers that a double holds", async () => {
    const { id } = await table();
    const raw = '{"data":{"a":9007199254740992,"b":-9007199254740992,"c":1.5e-300}}';
    const answer = await system.call("POST", `/tables/${id}/rows`, { raw });
    expect(answer.status).toBe(201);
  });

  it("is refused with NUL, a lone surrogate, too much nesting or over 1 MiB", async () => {
    const { id } = await table();
    for (const raw of ['{"data":{"a":"\\u0000"}}', '{"data":{"\\ud800":1}}']) {
      expect(await system.call("POST", `/tables/${id}/rows`, { raw })).toMatchObject(BAD_REQUEST);
    }
    const nested = `{"data":{"a":${"[".repeat(63)}${"]".repeat(63)}}}`;
    const deep = await system.call("POST", `/tables/${id}/rows`, { raw: nested });
    expect(deep).toMatchObject(BAD_REQUEST);
    const envelope = '{"data":{"a":""}}'.length;
    const body = (bytes: number) => ({ raw: `{"data":{"a":"${"x".repeat(bytes - envelope)}"}}` });
    const most = await system.call("POST", `/tables/${id}/rows`, body(MIB));
    expect(most.status).toBe(201);
    const over = await system.call("POST", `/tables/${id}/rows`, body(MIB + 1));
    expect(over).toMatchObject({ status: 413, error: { code: "PAYLOAD_TOO_LARGE" } });
  });

  it("is refused when the table is full, also among many at once", async () => {
    const { id } = await table({ fields: { maxRows: 10 } });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => insert(id, { n })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(answer).toMatchObject({
        status: 400,
        error: {
          code: "BAD_REQUEST",
          message: expect.stringMatching(/^Table has reached its maximum row limit of 10\.?$/),
        },
      });
    }
    expect(await rowCount(id)).toBe(10);
    const positions = (await allRows(id)).map(({ position }) => position);
    expect(new Set(positions).size).toBe(10);
  });

  it("is answered for itself when many of different tables come at once", async () => {
    const tables = [await table(), await table()];
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const id = [...tables.map((each) => each.id), UNKNOWN, "no-id"][n % 4] ?? "";
        const raw = n % 8 === 0 ? '{"data":{"n":1e400}}' : JSON.stringify({ data: { n } });
        const headers = { "x-request-id": `row-${n}` };
        return { n, answer: await system.call("POST", `/tables/${id}/rows`, { raw, headers }) };
      }),
    );
    for (const { n, answer } of answers) {
      expect(answer.headers.get("x-request-id")).toBe(`row-${n}`);
      if (n % 4 >= 2) expect(answer).toMatchObject(NOT_FOUND);
      else if (n % 8 === 0) expect(answer).toMatchObject(BAD_REQUEST);
      else expect(rowSchema.parse(answer.data).data).toEqual({ n });
    }
  });
});

describe("a row", () => {
  it("is read, replaced, merged and deleted by its id", async () => {
    const { id } = await table();
    const row = await insertedRow(id, { name: "Ada", more: 1 });
    const path = `/tables/${id}/rows/${row.id}`;
    expect((await system.call("GET", path)).data).toEqual(row);

    const replaced = await system.call("PATCH", path, { body: { data: { name: "Eve" } } });
    expect(rowSchema.parse(replaced.data)).toMatchObject({
      id: row.id,
      data: { name: "Eve" },
      position: row.position,
      createdAt: row.createdAt,
    });
    expect(rowSchema.parse(replaced.data).data).toEqual({ name: "Eve" });

    const merge = { body: { data: { more: { a: 1 }, name: null } } };
    const merged = await system.call("PATCH", `${path}?merge=true`, merge);
    expect(rowSchema.parse(merged.data).data).toEqual({ name: null, more: { a: 1 } });
    const again = await system.call("PATCH", `${path}?merge=true`, { body: { data: { x: 1 } } });
    expect(rowSchema.parse(again.data).data).toEqual({ name: null, more: { a: 1 }, x: 1 });
    const whole = await system.call("PATCH", `${path}?merge=false`, { body: { data: {} } });
    expect(rowSchema.parse(whole.data).data).toEqual({});

    const deleted = await system.call("DELETE", path);
    expect(deleted).toMatchObject({ status: 200, data: { deleted: true } });
    expect(await rowCount(id)).toBe(0);
    expect(await system.call("DELETE", path)).toMatchObject(NOT_FOUND);
    expect(await system.call("GET", path)).toMatchObject(NOT_FOUND);
    expect(await system.call("PATCH", path, { body: { data: {} } })).toMatchObject(NOT_FOUND);
  });

  it("is one of its table only", async () => {
    const { rowIds } = await table({ rows: [{ name: "a" }] });
    const other = await table();
    for (const rowId of [rowIds[0], UNKNOWN, "no-id", "%F0%9F%98%80"]) {
      const path = `/tables/${other.id}/rows/${rowId}`;
      expect(await system.call("GET", path)).toMatchObject(NOT_FOUND);
      expect(await system.call("PATCH", path, { body: { data: {} } })).toMatchObject(NOT_FOUND);
      expect(await system.call("DELETE", path)).toMatchObject(NOT_FOUND);
    }
  });

  it.each(["?merge=yes", "?merge=", "?merge=1"])("is not merged by %s", async (query) => {
    const { id, rowIds } = await table({ rows: [{ name: "a" }] });
    const path = `/tables/${id}/rows/${rowIds[0]}${query}`;
    const answer = await system.call("PATCH", path, { body: { data: {} } });
    expect(answer).toMatchObject(BAD_REQUEST);
    expect(pathsOf(answer)).toEqual(["merge"]);
  });

  it("leaves its place to nobody", async () => {
    const { id, rowIds } = await table({ rows: [{ name: "a" }, { name: "b" }, { name: "c" }] });
    const last = (await allRows(id)).at(-1);
    await system.call("DELETE", `/tables/${id}/rows/${last?.id}`);
    const next = await insertedRow(id, { name: "d" });
    expect(Number(next.position)).toBeGreaterThan(Number(last?.position));
    expect((await allRows(id)).map((row) => row.id)).toEqual([rowIds[0], rowIds[1], next.id]);
  });
});
