import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import { ListDistinctValuesRequest, UpdateRowRequest } from "@workflow/proto/tables/v1/rows";
import { z } from "zod";
import type { Column } from "../src/domain/column.ts";
import { findChanges } from "../src/store/rows-changes.ts";
import { newIdentity, startHarness } from "./support/harness.ts";
import type { Clients, Harness } from "./support/harness.ts";
import { createRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";

let harness: Harness;
/** Another process, whose writes this one has to hear of. */
let other: Clients;

beforeAll(async () => {
  harness = await startHarness();
  other = harness.connect(await harness.start());
});
afterAll(() => harness.close());

const TEXTS = Array.from({ length: 12 }, (_, n): Column => ({
  id: `text${n}`,
  name: `Text ${n}`,
  type: "text",
}));
const JSON_COLUMN: Column = { id: "doc", name: "Doc", type: "json" };
const NUMBER: Column = { id: "amount", name: "Amount", type: "number" };

const textOf = (row: number, version: number) => `v${version} r${row} ${"x".repeat(1_900)}`;
const dataOf = (row: number, version: number) => ({
  amount: row,
  ...Object.fromEntries(TEXTS.map(({ id }) => [id, textOf(row, version)])),
});

async function rowIdsOf({ tableId }: RowTable): Promise<readonly string[]> {
  return harness.database.anyFirst(sql.type(z.object({ id: z.string() }))`
    select r.id from tables.rows as r join tables.tables as t on t.key = r.table_key
    where t.id = ${tableId} order by r.position
  `);
}

/** Replaces the data of rows by batches of the other process. */
async function updateAll({ tableId, identity }: RowTable, ids: readonly string[], version: number) {
  for (let start = 0; start < ids.length; start += 200) {
    const updates = ids.slice(start, start + 200).map((rowId, place) => ({
      rowId,
      dataJson: JSON.stringify(dataOf(start + place, version)),
    }));
    const batch = { tableId, insertDataJson: [], updates, deleteRowIds: [] };
    await other.rows.batchRows(batch, { identity });
  }
}

const startsWith = (column: string, value: string) => ({
  [column]: { condition: { operator: "starts_with", value } },
});

describe("columns in memory", () => {
  it("catch up with changes of which one page holds a part only", async () => {
    const table = await createRowTable(harness, newIdentity(), { columns: [NUMBER, ...TEXTS] });
    await table.insertAll(Array.from({ length: 300 }, (_, row) => dataOf(row, 1)));
    const all = Object.assign({}, ...TEXTS.map(({ id }) => startsWith(id, "v1 ")));
    expect((await table.query({ filter: all, show: "amount" })).total).toBe(300);
    const ids = await rowIdsOf(table);
    await updateAll(table, ids, 2);
    const batch = { tableId: table.tableId, insertDataJson: [], updates: [] };
    await other.rows.batchRows(
      { ...batch, deleteRowIds: ids.slice(0, 100) },
      { identity: table.identity },
    );
    expect((await table.query({ filter: all, show: "amount" })).total).toBe(0);
    const now = Object.assign({}, ...TEXTS.map(({ id }) => startsWith(id, "v2 ")));
    const { values, total } = await table.query({ filter: now, sort: "amount", show: "amount" });
    expect([total, values[0], values.at(-1)]).toEqual([200, 100, 199]);
  });

  it("are answered from while all of them are written again and again", async () => {
    const table = await createRowTable(harness, newIdentity(), { columns: [NUMBER, ...TEXTS] });
    await table.insertAll(Array.from({ length: 200 }, (_, row) => dataOf(row, 1)));
    const ids = await rowIdsOf(table);
    let isOver = false;
    const writing = (async () => {
      for (let version = 2; !isOver; version++) await updateAll(table, ids, version);
    })();
    try {
      const all = Object.assign({}, ...TEXTS.map(({ id }) => startsWith(id, "v")));
      for (let read = 0; read < 5; read++) {
        const { values, total } = await table.query({ filter: all, sort: "text0", show: "amount" });
        expect([total, new Set(values).size]).toEqual([200, 100]);
      }
    } finally {
      isOver = true;
      await writing;
    }
  });

  it("are brought up to date when they are asked for, whatever others were asked for between", async () => {
    const columns = [NUMBER, ...TEXTS.slice(0, 2)];
    const table = await createRowTable(harness, newIdentity(), { columns });
    await table.insertAll(Array.from({ length: 200 }, (_, row) => dataOf(row, 1)));
    const matching = async (column: string, value: string) =>
      (await table.query({ filter: startsWith(column, value), show: "amount" })).total;
    expect([await matching("text0", "v1 "), await matching("text1", "v1 ")]).toEqual([200, 200]);
    const ids = await rowIdsOf(table);
    const { tableId, identity } = table;
    // Only the first column hears of all this; so many deletions make the memory be cleared up.
    await updateAll(table, ids.slice(0, 150), 2);
    expect(await matching("text0", "v2 ")).toBe(150);
    const batch = { tableId, insertDataJson: [JSON.stringify(dataOf(7, 3))], updates: [] };
    await other.rows.batchRows({ ...batch, deleteRowIds: ids.slice(0, 100) }, { identity });
    expect(await matching("text0", "v2 ")).toBe(50);
    await table.insertAll([dataOf(8, 3)]);
    const counts = async (column: string) =>
      Promise.all(["v1 ", "v2 ", "v3 "].map((value) => matching(column, value)));
    expect(await counts("text1")).toEqual([50, 50, 2]);
    expect(await counts("text0")).toEqual([50, 50, 2]);
  });

  it("hold what a large object of a changed row begins with", async () => {
    const table = await createRowTable(harness, newIdentity(), { columns: [NUMBER, JSON_COLUMN] });
    const docOf = (last: string) => ({
      amount: 1,
      doc: [...Array<string>(3_000).fill("item"), last],
    });
    await table.insertAll([docOf("first"), { amount: 2, doc: "small" }]);
    const find = async (value: string) =>
      (
        await table.query({
          filter: { doc: { condition: { operator: "contains", value } } },
          show: "amount",
        })
      ).values;
    expect([await find("first"), await find("item")]).toEqual([[1], [1]]);
    const [rowId = ""] = await rowIdsOf(table);
    const update = { tableId: table.tableId, rowId, dataJson: JSON.stringify(docOf("second")) };
    await other.rows.updateRow(UpdateRowRequest.create(update), { identity: table.identity });
    expect([await find("first"), await find("second")]).toEqual([[], [1]]);
  });
});

describe("a page of changes", () => {
  it("has about 1 MiB of values, and goes on behind its last row", async () => {
    const table = await createRowTable(harness, newIdentity(), { columns: TEXTS });
    // Nothing that could be packed: how far that goes is a guess.
    const random = () => randomBytes(1_400).toString("base64");
    const dataOfRandom = () => Object.fromEntries(TEXTS.map(({ id }) => [id, random()]));
    await table.insertAll(Array.from({ length: 300 }, dataOfRandom));
    const tableKey = await harness.database.oneFirst(sql.type(z.object({ key: z.number() }))`
      select key from tables.tables where id = ${table.tableId}
    `);
    const database = await openDatabase({
      connectionUri: harness.databaseUri,
      role: "workflow_tables",
      applicationName: "test",
    });
    try {
      const { companyId } = table.identity;
      const keys = TEXTS.map(({ id }) => id);
      const seen: number[] = [];
      for (let after = { revision: 0, position: -1 }; ;) {
        const deleted = { since: 0, upTo: 1_000 };
        const page = await findChanges(database, { companyId, tableKey }, { after, keys, deleted });
        if (page === null) throw new Error("there is a table");
        const bytes = Buffer.byteLength(JSON.stringify(page.rows));
        expect(bytes).toBeLessThan(1.1 * 1024 * 1024);
        seen.push(...page.rows.map(({ position }) => position));
        const last = page.rows.at(-1);
        if (!page.more || last === undefined) break;
        after = { revision: last.revision, position: last.position };
      }
      expect(seen).toEqual(Array.from({ length: 300 }, (_, position) => position));
    } finally {
      await database.end();
    }
  });
});

describe("a search among distinct values", () => {
  const search = async (table: RowTable, text: string, clients: Clients = harness) => {
    const request = { tableId: table.tableId, columnId: "name", search: text, limit: 10 };
    const { values, truncated } = await clients.rows.listDistinctValues(
      ListDistinctValuesRequest.create(request),
      { identity: table.identity },
    );
    return { labels: values.map(({ label }) => label), truncated };
  };

  it.each<[string, Column["type"], unknown, unknown]>([
    ["texts", "text", `${"long ".repeat(1_000)}Needle`, `${"long ".repeat(1_000)}thread`],
    ["JSON", "json", [...Array<string>(3_000).fill("x"), "nEEdle"], Array(3_000).fill("x")],
    ["what does not fit", "number", `${"1".repeat(3_000)}needle`, "1".repeat(3_000)],
  ])(
    "of %s is incomplete only when a value that it finds cannot be told",
    async (_, type, one, two) => {
      const columns: Column[] = [{ id: "name", name: "Name", type }];
      const table = await createRowTable(harness, newIdentity(), { columns });
      await table.insertAll([{ name: one }, { name: two }, { name: "a" }, { name: "no needles" }]);
      for (const clients of [harness, other]) {
        expect(await search(table, "NEEDLES", clients)).toEqual({
          labels: ["no needles"],
          truncated: false,
        });
        expect(await search(table, "needle", clients)).toEqual({
          labels: ["no needles"],
          truncated: true,
        });
        expect(await search(table, "nothing", clients)).toEqual({ labels: [], truncated: false });
      }
      const [rowId = ""] = await rowIdsOf(table);
      const update = { tableId: table.tableId, rowId, dataJson: JSON.stringify({ name: two }) };
      await other.rows.updateRow(UpdateRowRequest.create(update), { identity: table.identity });
      expect(await search(table, "needle")).toEqual({ labels: ["no needles"], truncated: false });
      expect((await search(table, "")).truncated).toBe(true);
    },
  );
});
