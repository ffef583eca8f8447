import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { DeleteRowRequest, UpdateRowRequest } from "@workflow/proto/tables/v1/rows";
import { Client } from "pg";
import { z } from "zod";
import { fillTable } from "./support/fill-table.ts";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { createRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";
import { column, countRecords, importMessages, newTable } from "./support/table-requests.ts";

const BYTES_MAX = 10_000;
const details = { limit: "tableBytes", max: BYTES_MAX };

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ tableBytesMax: BYTES_MAX });
});
afterAll(() => harness.close());

/** A row whose JSON has so many bytes. */
const rowOf = (bytes: number) => ({ name: "x".repeat(bytes - '{"name":""}'.length) });

/** What is counted for a table, and what its rows really have. */
async function bytesOf({ tableId }: RowTable): Promise<{ counted: number; real: number }> {
  return harness.database.one(sql.type(z.object({ counted: z.number(), real: z.number() }))`
    select
      state.row_bytes as counted,
      (
        select coalesce(sum(octet_length(r.data::text)), 0)
        from tables.rows as r
        where r.table_key = state.table_key
      ) as real
    from tables.table_states as state
    join tables.tables as "table" on "table".key = state.table_key
    where "table".id = ${tableId}
  `);
}

function update({ tableId, identity }: RowTable, rowId: string, data: object, merge = false) {
  const request = UpdateRowRequest.fromPartial({
    tableId,
    rowId,
    dataJson: JSON.stringify(data),
    merge,
  });
  return harness.rows.updateRow(request, { identity });
}

describe.each([false, true])("the bytes of a table's rows, row events %s", (rowEvents) => {
  const makeTable = () => createRowTable(harness, newIdentity(), { rowEvents });

  it("reach the limit exactly, and what goes beyond is refused with limit and size", async () => {
    const table = await makeTable();
    await table.insert(rowOf(6_000));
    const error = await errorOf(table.insert(rowOf(4_001)));
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.message).toBe(
      "The table's rows would have more than 10000 bytes of JSON together",
    );
    expect(error.details).toEqual(details);
    await table.insert(rowOf(4_000));
    expect(await bytesOf(table)).toEqual({ counted: BYTES_MAX, real: BYTES_MAX });
    const other = await makeTable();
    await other.insert(rowOf(9_000));
  });

  it("count as UTF-8", async () => {
    const table = await makeTable();
    const data = { name: "ü".repeat(4_994) };
    await table.insert(data);
    expect((await bytesOf(table)).counted).toBe(9_999);
    expect((await errorOf(table.insert({}))).details).toEqual(details);
  });

  it("are within the limit when many rows come at once, and small ones behind a large one fit", async () => {
    const table = await makeTable();
    const sizes = [4_000, 4_000, 4_000, 1_000, 700, 1_500, 900, 4_000, 50, 60];
    const outcomes = await Promise.allSettled(sizes.map((size) => table.insert(rowOf(size))));
    const { counted, real } = await bytesOf(table);
    expect(counted).toBe(real);
    expect(real).toBeLessThanOrEqual(BYTES_MAX);
    for (const [place, { status }] of outcomes.entries()) {
      // None was refused for which there is room yet.
      if (status === "rejected") expect((sizes[place] ?? 0) + real).toBeGreaterThan(BYTES_MAX);
    }
    expect(outcomes.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(2);
  });

  it("are not exceeded by updates that grow, at once too; those that shrink always may", async () => {
    const table = await makeTable();
    const ids = await Promise.all([2_000, 2_000, 2_000].map((size) => table.insert(rowOf(size))));
    const outcomes = await Promise.allSettled(ids.map((id) => update(table, id, rowOf(4_500))));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const [first = ""] = ids;
    const merge = await errorOf(update(table, first, { more: "x".repeat(3_000) }, true));
    expect(merge.details).toEqual(details);
    for (const id of ids) await update(table, id, rowOf(100));
    expect(await bytesOf(table)).toEqual({ counted: 300, real: 300 });
    expect((await errorOf(update(table, first, rowOf(9_801)))).details).toEqual(details);
    await update(table, first, rowOf(9_800));
    const missing = "01890000-0000-7000-8000-000000000000";
    expect((await errorOf(update(table, missing, rowOf(500)))).reason).toBe("NOT_FOUND");
  });

  it("come free by deletions, in one batch with what takes their place", async () => {
    const table = await makeTable();
    const { tableId, identity } = table;
    const rowId = await table.insert(rowOf(9_000));
    const insertDataJson = [JSON.stringify(rowOf(9_900))];
    const batch = { tableId, insertDataJson, updates: [], deleteRowIds: [] };
    expect((await errorOf(harness.rows.batchRows(batch, { identity }))).details).toEqual(details);
    await harness.rows.batchRows({ ...batch, deleteRowIds: [rowId] }, { identity });
    expect(await bytesOf(table)).toEqual({ counted: 9_900, real: 9_900 });
    const page = await harness.rows.queryRows(
      { tableId, limit: 1, offset: 0, filterJson: "", sort: "", order: 0, legacyFilter: false },
      { identity },
    );
    const gone = DeleteRowRequest.fromPartial({ tableId, rowId: page.rows[0]?.id ?? "" });
    await harness.rows.deleteRow(gone, { identity });
    await table.insert(rowOf(10_000));
  });

  it("shrink but do not grow in a table that has more of them already", async () => {
    const table = await makeTable();
    await fillTable(harness, table.tableId, { rows: 1, prefix: "", repeats: 400 });
    const { counted, real } = await bytesOf(table);
    expect(counted).toBe(real);
    const { tableId, identity } = table;
    const page = await harness.rows.queryRows(
      { tableId, limit: 1, offset: 0, filterJson: "", sort: "", order: 0, legacyFilter: false },
      { identity },
    );
    const rowId = page.rows[0]?.id ?? "";
    await update(table, rowId, rowOf(12_000));
    expect((await errorOf(update(table, rowId, rowOf(12_001)))).details).toEqual(details);
  });
});

describe("an import", () => {
  it("beyond the bytes of a table is refused whole; one that reaches them is stored", async () => {
    const identity = newIdentity();
    const before = await countRecords(harness.database);
    const table = newTable({ columns: { columns: [column("name")] } });
    const send = (sizes: number[]) =>
      harness.tables.importTable(importMessages(table, sizes.map(rowOf)), { identity });
    expect((await errorOf(send([5_000, 5_001]))).details).toEqual(details);
    expect(await countRecords(harness.database)).toEqual(before);
    expect((await send([5_000, 5_000])).rowCount).toBe(2);
  });
});

describe("tables of before their bytes were counted", () => {
  it("are counted by the migration, whatever was written between its two steps", async () => {
    const table = await createRowTable(harness, newIdentity());
    await table.insertAll([rowOf(1_000), rowOf(500)]);
    const client = new Client({ connectionString: harness.databaseUri });
    await client.connect();
    try {
      await client.query("alter table tables.table_states alter column row_bytes drop not null");
      await client.query("update tables.table_states set row_bytes = null");
      // As a service of before does, which knows nothing of the count.
      await client.query("update tables.rows set data = '{}' where octet_length(data::text) = 500");
      const file = new URL("../migrations/0006_count_row_bytes.sql", import.meta.url);
      await client.query(await readFile(file, "utf8"));
    } finally {
      await client.end();
    }
    expect(await bytesOf(table)).toEqual({ counted: 1_002, real: 1_002 });
    expect((await errorOf(table.insert(rowOf(9_000)))).details).toEqual(details);
  });
});
