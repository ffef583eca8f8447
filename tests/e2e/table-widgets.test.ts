import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { z } from "zod";
import { signInEditor } from "../support/dashboards.ts";
import type { SignedIn } from "../support/dashboards.ts";
import { makeTable } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/** Widgets that show rows of a table, or figures about them (D52). */
let system: WholeSystem;
let owner: SignedIn;
let tableId: string;

const withId = z.looseObject({ id: z.string() });
const COLUMNS = [
  { id: "team", name: "Team", type: "select", options: ["red", "blue"] },
  { id: "n", name: "Points", type: "number" },
  { id: "day", name: "Day", type: "date" },
];
const ROWS = [
  { team: "blue", n: 1, day: "2026-01-01", note: "x" },
  { team: "red", n: 2, day: "2026-01-02" },
  { team: "blue", n: 5, day: "2026-01-03" },
  { n: 7 },
];

beforeAll(async () => {
  system = await startWholeSystem();
  owner = await signInEditor(system, system.acme);
  tableId = (await makeTable(system, system.acme.key, { columns: COLUMNS, rows: ROWS })).id;
});
afterAll(() => system.stop());

async function addWidget(type: string, config: object) {
  const board = await system.call("POST", "/dashboards", { ...owner, body: { name: "Board" } });
  const path = `/dashboards/${withId.parse(board.data).id}/widgets`;
  const body = { type, config: { source: "table", ...config } };
  return { path, answer: await system.call("POST", path, { ...owner, body }) };
}

async function dataOf(type: string, config: object) {
  const { path, answer } = await addWidget(type, config);
  expect(answer.error).toBeUndefined();
  return system.call("GET", `${path}/${withId.parse(answer.data).id}/data`);
}

describe("a widget of a table", () => {
  it("says how many rows there are unless it is told otherwise", async () => {
    const { data } = await dataOf("metric", { tableId });
    expect(data).toEqual({
      widgetId: expect.any(String),
      source: "table",
      table: { id: tableId, name: "Contacts" },
      columns: [],
      groupBy: null,
      measures: [{ fn: "count", column: null }],
      groups: [{ key: null, values: [4] }],
    });
  });

  it("shows figures by group, of the rows that its filter leaves", async () => {
    const filter = { n: { condition: { operator: "less_than", value: 7 } } };
    const measures = [{ fn: "count" }, { fn: "sum", column: "n" }, { fn: "max", column: "day" }];
    const { data } = await dataOf("bar", { tableId, filter, groupBy: "team", measures });
    expect(data).toMatchObject({
      columns: [
        { id: "team", name: "Team", type: "select" },
        { id: "n", name: "Points", type: "number" },
        { id: "day", name: "Day", type: "date" },
      ],
      groupBy: "team",
      measures: [
        { fn: "count", column: null },
        { fn: "sum", column: "n" },
        { fn: "max", column: "day" },
      ],
      groups: [
        { key: "red", values: [1, 2, "2026-01-02"] },
        { key: "blue", values: [2, 6, "2026-01-03"] },
      ],
    });
  });

  it("of type table shows rows in its order, with the columns that it names", async () => {
    const { data } = await dataOf("table", {
      tableId,
      columns: ["n", "note", "gone"],
      sort: "n",
      order: "desc",
      limit: 2,
    });
    expect(data).toEqual({
      widgetId: expect.any(String),
      source: "table",
      table: { id: tableId, name: "Contacts" },
      columns: [{ id: "n", name: "Points", type: "number" }],
      rows: [{ n: 7 }, { n: 5 }].map((row) => ({
        id: expect.any(String),
        data: row,
        position: expect.any(Number),
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      })),
      total: 4,
      hasMore: true,
    });
    const whole = await dataOf("table", { tableId });
    expect(whole.data).toMatchObject({
      columns: COLUMNS.map(({ id, name, type }) => ({ id, name, type })),
      rows: ROWS.map((row) => ({ data: row })),
      hasMore: false,
    });
    const grouped = await dataOf("table", { tableId, groupBy: "team" });
    expect(grouped.data).toMatchObject({
      groups: [{ key: "red" }, { key: "blue" }, { key: null }],
    });
  });

  it.each<[object, string[]]>([
    [{}, ["config", "tableId"]],
    [{ tableId: "Contacts" }, ["config", "tableId"]],
    [{ tableId: newUuid(), filter: [] }, ["config", "filter"]],
    [{ tableId: newUuid(), measures: [] }, ["config", "measures"]],
    [{ tableId: newUuid(), measures: [{ fn: "median" }] }, ["config", "measures", "0", "fn"]],
    [{ tableId: newUuid(), measures: [{ fn: "sum" }] }, ["config", "measures", "0", "column"]],
    [{ tableId: newUuid(), limit: 101 }, ["config", "limit"]],
    [{ tableId: newUuid(), order: "up" }, ["config", "order"]],
    [{ tableId: newUuid(), columns: [""] }, ["config", "columns", "0"]],
  ])("is not made with %j", async (config, path) => {
    expect((await addWidget("bar", config)).answer).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: [{ path }] },
    });
  });

  it("answers 404 and names the table when that is gone, or another company's", async () => {
    const made = await makeTable(system, system.acme.key);
    expect((await system.call("DELETE", `/tables/${made.id}`)).status).toBe(200);
    const foreign = await makeTable(system, system.globex.key, { rows: [{ name: "secret" }] });
    for (const id of [made.id, foreign.id, newUuid()]) {
      for (const type of ["metric", "table"]) {
        expect(await dataOf(type, { tableId: id })).toMatchObject({
          status: 404,
          error: { code: "NOT_FOUND", details: { tableId: id } },
        });
      }
    }
  });

  it("answers 400 for a column that is gone or does not suit the figure", async () => {
    for (const config of [
      { tableId, groupBy: "gone" },
      { tableId, measures: [{ fn: "sum", column: "team" }] },
      { tableId, filter: { gone: { values: [1] } } },
    ]) {
      expect(await dataOf("bar", config)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST" },
      });
    }
  });

  it("answers 400 and names the column when its values are too long to be groups", async () => {
    const made = await makeTable(system, system.acme.key, {
      columns: COLUMNS,
      rows: [{ team: "x".repeat(2_001) }],
    });
    expect(await dataOf("bar", { tableId: made.id, groupBy: "team" })).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: [{ path: ["groupBy"] }] },
    });
  });

  it("is read with workflows:read alone", async () => {
    const { path, answer } = await addWidget("metric", { tableId });
    const data = `${path}/${withId.parse(answer.data).id}/data`;
    const key = await system.createKey(system.acme, ["workflows:read"]);
    expect((await system.call("GET", data, { key })).status).toBe(200);
    const other = await system.createKey(system.acme, ["runs:read"]);
    expect((await system.call("GET", data, { key: other })).status).toBe(403);
  });
});
