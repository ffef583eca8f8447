import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { InsertRowRequest } from "@workflow/proto/tables/v1/rows";
import type { Column, Table } from "@workflow/proto/tables/v1/tables";
import { z } from "zod";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { column, listAuditEvents, newTable, tableChange } from "./support/table-requests.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const options = { identity: newIdentity() };

function create(fields: Parameters<typeof newTable>[0] = {}): Promise<Table> {
  return harness.tables.createTable(newTable(fields), options);
}

function update(table: Table, fields: Parameters<typeof tableChange>[1]): Promise<Table> {
  return harness.tables.updateTable(tableChange(table.id, fields), options);
}

const idsOf = (columns: readonly Column[]): string[] => columns.map(({ id }) => id);

describe("UpdateTable", () => {
  it("changes what is given and leaves the rest", async () => {
    const table = await create({
      description: "Before",
      schemaJson: `{"columns":[{"id":"a","name":"A","type":"text"}]}`,
      metadataJson: `{"b":1}`,
    });
    const changed = await update(table, { name: "After", rowEvents: true });
    expect(changed).toEqual({
      ...table,
      name: "After",
      rowEvents: true,
      updatedAt: changed.updatedAt,
    });
    expect(changed.updatedAt?.getTime()).toBeGreaterThanOrEqual(table.updatedAt?.getTime() ?? NaN);
    expect((await update(table, { description: "" })).description).toBeUndefined();
  });

  it("changes nothing and tells of nothing when all is as it was", async () => {
    const own = { identity: newIdentity() };
    const request = newTable({
      description: "D",
      columns: { columns: [column("A", { required: true })] },
      schemaJson: `{"view":1}`,
      metadataJson: `{"m":[1.5]}`,
    });
    const table = await harness.tables.createTable(request, own);
    const { id, name, description, schemaJson, metadataJson, maxRows, rowEvents } = table;
    const columns = { columns: table.columns };
    const unnamed = { columns: table.columns.map((each) => ({ ...each, id: "" })) };
    const state = () =>
      harness.database.one(sql.type(z.object({ schemaRevision: z.number() }))`
        select state.schema_revision as "schemaRevision"
        from tables.table_states as state
        join tables.tables as "table" on "table".key = state.table_key
        where "table".id = ${id}
      `);
    const before = await state();
    for (const same of [
      {},
      { name, description, metadataJson, maxRows, rowEvents },
      { columns },
      { columns: unnamed },
      { schemaJson },
      { schemaJson, columns, metadataJson: `{ "m": [1.50] }` },
    ]) {
      expect(await harness.tables.updateTable(tableChange(id, same), own)).toEqual(table);
    }
    expect(await harness.tables.getTable({ tableId: id }, own)).toEqual(table);
    expect(await state()).toEqual(before);
    const events = await listAuditEvents(harness.database, own.identity.companyId);
    expect(events).toHaveLength(1);
  });

  it("replaces the schema whole, columns included", async () => {
    const table = await create({ schemaJson: `{"columns":[{"name":"A","type":"text"}],"x":1}` });
    const [a] = idsOf(table.columns);
    const same = await update(table, {
      schemaJson: `{"columns":[{"name":"A","type":"number"}],"y":2}`,
    });
    expect(idsOf(same.columns)).toEqual([a]);
    expect(JSON.parse(same.schemaJson)).toEqual({
      columns: [{ id: a, name: "A", type: "number" }],
      y: 2,
    });
    const none = await update(table, { schemaJson: "{}" });
    expect(none).toMatchObject({ columns: [], schemaJson: "{}" });
  });

  it("replaces the columns in the schema, and leaves the rest of it", async () => {
    const table = await create({
      columns: { columns: [column("A"), column("B")] },
      schemaJson: `{"x":1}`,
    });
    const [a, b] = idsOf(table.columns);
    const changed = await update(table, { columns: { columns: [column("B"), column("C")] } });
    const [first, second] = idsOf(changed.columns);
    expect(first).toBe(b);
    expect([a, b]).not.toContain(second);
    expect(JSON.parse(changed.schemaJson)).toMatchObject({
      x: 1,
      columns: [{ name: "B" }, { name: "C" }],
    });
    const both = await update(table, {
      columns: { columns: [column("Renamed", { id: first ?? "" })] },
      schemaJson: `{"columns":[{"name":"Z","type":"text"}],"z":1}`,
    });
    expect(JSON.parse(both.schemaJson)).toEqual({
      columns: [{ id: first, name: "Renamed", type: "text" }],
      z: 1,
    });
    const none = await update(table, { columns: { columns: [] } });
    expect(none).toMatchObject({ columns: [], schemaJson: `{"columns":[],"z":1}` });
  });

  it("takes fewer rows than there are, and then no more are added", async () => {
    const table = await create();
    const insert = (value: number) =>
      harness.rows.insertRow(
        InsertRowRequest.create({ tableId: table.id, dataJson: `{"n":${value}}` }),
        options,
      );
    await insert(1);
    await insert(2);
    expect(await update(table, { maxRows: 1 })).toMatchObject({ maxRows: 1, rowCount: 2 });
    expect(await errorOf(insert(3))).toMatchObject({
      reason: "BAD_REQUEST",
      message: "Table has reached its maximum row limit of 1",
    });
    await update(table, { maxRows: 3 });
    await insert(3);
    expect(await errorOf(update(table, { maxRows: 100_001 }))).toMatchObject({
      violations: [{ path: ["maxRows"] }],
    });
  });

  it("does not let changes of rows count as changes of the table", async () => {
    const table = await create();
    await harness.rows.insertRow(
      InsertRowRequest.create({ tableId: table.id, dataJson: "{}" }),
      options,
    );
    const after = await harness.tables.getTable({ tableId: table.id }, options);
    expect(after).toEqual({ ...table, rowCount: 1 });
  });

  it("loses no change of those made at the same time", async () => {
    const table = await create();
    await Promise.all([
      update(table, { name: "Name" }),
      update(table, { description: "Description" }),
      update(table, { maxRows: 77 }),
      update(table, { metadataJson: `{"m":1}` }),
      update(table, { columns: { columns: [column("A", { id: "a" })] } }),
    ]);
    expect(await harness.tables.getTable({ tableId: table.id }, options)).toMatchObject({
      name: "Name",
      description: "Description",
      maxRows: 77,
      metadataJson: `{"m":1}`,
      columns: [{ id: "a" }],
    });
  });
});
