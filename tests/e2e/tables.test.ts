import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { makeTable, tableSchema } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const violations = z.array(z.object({ path: z.array(z.string()), message: z.string() }));

const UNKNOWN = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

async function create(body: object) {
  const answer = await system.call("POST", "/tables", { body });
  expect(answer.error).toBeUndefined();
  expect(answer.status).toBe(201);
  return tableSchema.parse(answer.data);
}

async function patch(id: string, body: object) {
  const answer = await system.call("PATCH", `/tables/${id}`, { body });
  expect(answer.error).toBeUndefined();
  expect(answer.status).toBe(200);
  return tableSchema.parse(answer.data);
}

async function read(id: string) {
  const answer = await system.call("GET", `/tables/${id}`);
  expect(answer.status).toBe(200);
  return tableSchema.parse(answer.data);
}

/** The paths that a refused request is told. */
async function badPaths(method: string, path: string, body: object): Promise<string[]> {
  const answer = await system.call(method, path, { body });
  expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
  return violations.parse(answer.error?.details).map((each) => each.path.join("."));
}

describe("a new table", () => {
  it("has the defaults of the contract", async () => {
    const table = await create({ name: "Orders" });
    expect(table).toEqual({
      id: table.id,
      name: "Orders",
      columns: [],
      schema: {},
      metadata: {},
      maxRows: 10_000,
      rowCount: 0,
      rowEvents: false,
      folderId: null,
      createdAt: table.createdAt,
      updatedAt: table.createdAt,
    });
    expect(await read(table.id)).toEqual(table);
  });

  it("keeps what it is given, with ids for columns that have none", async () => {
    const table = await create({
      name: " Orders é😀 ",
      description: "All of them",
      columns: [
        { id: "a/b", name: "Name", type: "text", required: true },
        { name: "State", type: "select", options: ["open", "done"] },
        { id: "__proto__", name: "Proto", type: "json" },
      ],
      schema: { view: { wide: true }, columns: [{ name: "Dropped", type: "text" }] },
      metadata: { "1": 1.5, __proto__: { x: 1 }, list: [null, ""] },
      maxRows: 100_000,
      rowEvents: true,
    });
    expect(table).toMatchObject({
      name: " Orders é😀 ",
      description: "All of them",
      metadata: { "1": 1.5, list: [null, ""] },
      maxRows: 100_000,
      rowEvents: true,
    });
    expect(table.columns).toEqual([
      { id: "a/b", name: "Name", type: "text", required: true },
      {
        id: expect.stringMatching(/^col_[0-9a-hjkmnp-tv-z]{26}$/),
        name: "State",
        type: "select",
        options: ["open", "done"],
      },
      { id: "__proto__", name: "Proto", type: "json" },
    ]);
    expect(table.schema["view"]).toEqual({ wide: true });
    expect(table.schema["columns"]).toEqual(table.columns);
    expect(await read(table.id)).toEqual(table);
  });

  it("takes its columns from the schema when they are not given", async () => {
    const columns = [{ id: "a", name: "A", type: "number" }];
    expect(await create({ name: "T", schema: { columns } })).toMatchObject({ columns });
  });

  it("knows all types of columns", async () => {
    const types = ["text", "number", "boolean", "date", "select", "url", "email", "json"];
    const columns = types.map((type) => ({
      id: type,
      name: type,
      type,
      ...(type === "select" ? { options: ["x"] } : {}),
    }));
    expect((await create({ name: "T", columns })).columns).toEqual(columns);
  });

  it.each<[object, string[]]>([
    [{}, ["name"]],
    [{ name: "" }, ["name"]],
    [{ name: "x".repeat(256) }, ["name"]],
    [{ name: 1 }, ["name"]],
    [{ name: null, maxRows: "1" }, ["name", "maxRows"]],
    [{ name: "T", maxRows: 0 }, ["maxRows"]],
    [{ name: "T", maxRows: 100_001 }, ["maxRows"]],
    [{ name: "T", maxRows: 1.5 }, ["maxRows"]],
    [{ name: "T", description: 1 }, ["description"]],
    [{ name: "T", schema: [] }, ["schema"]],
    [{ name: "T", schema: null }, ["schema"]],
    [{ name: "T", metadata: "x" }, ["metadata"]],
    [{ name: "T", rowEvents: "yes" }, ["rowEvents"]],
    [{ name: "T", folderId: 1 }, ["folderId"]],
    [{ name: "T", columns: {} }, ["columns"]],
    [{ name: "T", columns: [1] }, ["columns.0"]],
    [{ name: "T", columns: [{ type: "text" }] }, ["columns.0.name"]],
    [{ name: "T", columns: [{ name: "A", type: "string" }] }, ["columns.0.type"]],
    [{ name: "T", columns: [{ id: "", name: "A", type: "text" }] }, ["columns.0.id"]],
    [{ name: "T", columns: [{ id: "x".repeat(256), name: "A", type: "text" }] }, ["columns.0.id"]],
    [{ name: "T", columns: [{ name: "S", type: "select" }] }, ["columns.0.options"]],
    [{ name: "T", columns: [{ name: "S", type: "select", options: [] }] }, ["columns.0.options"]],
    [
      { name: "T", columns: [{ name: "S", type: "select", options: [1] }] },
      ["columns.0.options.0"],
    ],
    [
      {
        name: "T",
        columns: [
          { id: "a", name: "A", type: "text" },
          { id: "a", name: "B", type: "text" },
        ],
      },
      ["columns.1.id"],
    ],
  ])("is refused with 400 and the paths of its mistakes: %j", async (body, paths) => {
    expect(await badPaths("POST", "/tables", body)).toEqual(paths);
  });

  it("may be at its limits", async () => {
    const id = "😀".repeat(255);
    const table = await create({
      name: "é".repeat(255),
      maxRows: 1,
      columns: [{ id, name: "n".repeat(255), type: "text" }],
    });
    expect(table.columns[0]?.id).toBe(id);
  });

  it("is not made of ids and counts that a caller gives", async () => {
    const table = await create({ name: "T", id: UNKNOWN, rowCount: 5, companyId: UNKNOWN });
    expect(table.id).not.toBe(UNKNOWN);
    expect(table.rowCount).toBe(0);
  });
});

describe("the list of tables", () => {
  it("has all of the company's, newest first, and none of another's", async () => {
    const key = system.globex.key;
    const ids: string[] = [];
    for (const name of ["first", "second", "third"]) {
      const { data } = await system.call("POST", "/tables", { key, body: { name } });
      ids.unshift(tableSchema.parse(data).id);
    }
    const list = await system.call("GET", "/tables", { key });
    expect(list.status).toBe(200);
    expect(list.text).not.toContain('"meta"');
    const tables = z.array(tableSchema).parse(list.data);
    expect(tables.map(({ id }) => id)).toEqual(ids);
    expect((await system.call("GET", `/tables/${ids[0]}`)).status).toBe(404);
  });
});

describe("PATCH of a table", () => {
  it("changes what is given and leaves the rest", async () => {
    const made = await create({
      name: "T",
      description: "D",
      columns: [{ id: "a", name: "A", type: "text" }],
      schema: { view: 1 },
      metadata: { m: 1 },
    });
    expect(await patch(made.id, {})).toEqual(made);
    const renamed = await patch(made.id, { name: "T2" });
    expect(renamed).toEqual({ ...made, name: "T2", updatedAt: renamed.updatedAt });
    expect(renamed.updatedAt >= made.updatedAt).toBe(true);
    expect(await patch(made.id, { description: "D2", rowEvents: true })).toMatchObject({
      name: "T2",
      description: "D2",
      rowEvents: true,
    });
    expect(await patch(made.id, { description: null })).not.toHaveProperty("description");
    expect(await patch(made.id, { metadata: { n: 2 } })).toMatchObject({ metadata: { n: 2 } });
    expect(await patch(made.id, { maxRows: 7 })).toMatchObject({
      maxRows: 7,
      columns: made.columns,
    });
  });

  it("replaces the columns, whose ids stay where the name does (D35)", async () => {
    const made = await create({
      name: "T",
      columns: [
        { name: "A", type: "text" },
        { name: "B", type: "text" },
      ],
      schema: { view: 1 },
    });
    const [a] = made.columns;
    const changed = await patch(made.id, {
      columns: [
        { name: "C", type: "text" },
        { name: "A", type: "number" },
      ],
    });
    expect(changed.columns).toEqual([
      { id: expect.stringMatching(/^col_/), name: "C", type: "text" },
      { id: a?.id, name: "A", type: "number" },
    ]);
    expect(changed.schema).toEqual({ view: 1, columns: changed.columns });
    expect((await patch(made.id, { columns: [] })).columns).toEqual([]);
  });

  it("replaces the schema as a whole, columns included", async () => {
    const made = await create({
      name: "T",
      columns: [{ id: "a", name: "A", type: "text" }],
      schema: { view: 1 },
    });
    expect(await patch(made.id, { schema: { other: 2 } })).toMatchObject({ columns: [] });
    const columns = [{ id: "b", name: "B", type: "text" }];
    const both = await patch(made.id, { schema: { third: 3 }, columns });
    expect(both.schema).toEqual({ third: 3, columns });
  });

  it.each<[object, string[]]>([
    [{ name: "" }, ["name"]],
    [{ name: null }, ["name"]],
    [{ columns: null }, ["columns"]],
    [{ schema: 1, metadata: [] }, ["schema", "metadata"]],
    [{ maxRows: 0 }, ["maxRows"]],
    [{ maxRows: 100_001 }, ["maxRows"]],
    [{ columns: [{ name: "S", type: "select" }] }, ["columns.0.options"]],
  ])("is refused with 400 and changes nothing: %j", async (body, paths) => {
    const made = await create({ name: "T" });
    expect(await badPaths("PATCH", `/tables/${made.id}`, body)).toEqual(paths);
    expect(await read(made.id)).toEqual(made);
  });
});

describe("DELETE of a table", () => {
  it("takes its rows along, and happens once", async () => {
    const { id, rowIds } = await makeTable(system, system.acme.key, { rows: [{ name: "a" }] });
    const deleted = await system.call("DELETE", `/tables/${id}`);
    expect(deleted).toMatchObject({ status: 200, data: { deleted: true } });
    for (const [method, path] of [
      ["GET", `/tables/${id}`],
      ["DELETE", `/tables/${id}`],
      ["GET", `/tables/${id}/rows`],
      ["GET", `/tables/${id}/rows/${rowIds[0]}`],
      ["GET", `/tables/${id}/rows/export?format=csv`],
    ] as const) {
      const answer = await system.call(method, path);
      expect(answer).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
    }
  });
});
