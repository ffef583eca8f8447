import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { DeleteRowRequest, InsertRowRequest } from "@workflow/proto/tables/v1/rows";
import type { Table } from "@workflow/proto/tables/v1/tables";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import {
  column,
  countRecords,
  importMessages,
  listAuditEvents,
  newTable,
  tableChange,
} from "./support/table-requests.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const options = { identity: newIdentity() };

function create(fields: Parameters<typeof newTable>[0] = {}): Promise<Table> {
  return harness.tables.createTable(newTable(fields), options);
}

describe("DeleteTable", () => {
  it("deletes the table with everything that belongs to it", async () => {
    const before = await countRecords(harness.database);
    const table = await create();
    const rowIds: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const origin = { runId: "run_1", idempotencyKey: `key-${i}` };
      const request = InsertRowRequest.create({ tableId: table.id, dataJson: "{}", origin });
      rowIds.push((await harness.rows.insertRow(request, options)).id);
    }
    await harness.rows.deleteRow(
      DeleteRowRequest.create({ tableId: table.id, rowId: rowIds[0] ?? "" }),
      options,
    );
    await harness.tables.deleteTable({ tableId: table.id }, options);
    expect(await countRecords(harness.database)).toEqual(before);
    expect(await errorOf(harness.tables.getTable({ tableId: table.id }, options))).toMatchObject({
      reason: "NOT_FOUND",
      message: "Table not found",
    });
    expect(await errorOf(harness.tables.deleteTable({ tableId: table.id }, options))).toMatchObject(
      { reason: "NOT_FOUND" },
    );
  });

  it("leaves nothing of inserts that come at the same time, which succeed before or find no table", async () => {
    const before = await countRecords(harness.database);
    const rows = Array.from({ length: 2_000 }, (_, n) => ({ n }));
    const table = await harness.tables.importTable(
      importMessages(newTable({ columns: { columns: [] } }), rows),
      options,
    );
    const inserts = Array.from({ length: 40 }, async () => {
      await harness.rows.insertRow(
        InsertRowRequest.create({ tableId: table.id, dataJson: "{}" }),
        options,
      );
    });
    const [deleted, ...inserted] = await Promise.allSettled([
      harness.tables.deleteTable({ tableId: table.id }, options),
      ...inserts,
    ]);
    expect(deleted.status).toBe("fulfilled");
    for (const outcome of inserted) {
      if (outcome.status === "rejected") {
        expect(outcome.reason).toMatchObject({ reason: "NOT_FOUND", message: "Table not found" });
      }
    }
    expect(await countRecords(harness.database)).toEqual(before);
  });
});

describe("the audit log", () => {
  it("is told what became of a table, and of documents only that they changed", async () => {
    const own = { identity: newIdentity() };
    const table = await harness.tables.createTable(
      newTable({ columns: { columns: [column("A", { id: "a" })] }, metadataJson: `{"token":"t"}` }),
      own,
    );
    await harness.tables.updateTable(
      tableChange(table.id, {
        name: "Renamed",
        columns: { columns: [column("B", { id: "b" })] },
        schemaJson: `{"secret":"s"}`,
      }),
      own,
    );
    await errorOf(harness.tables.updateTable(tableChange(table.id, { name: "" }), own));
    await harness.rows.insertRow(
      InsertRowRequest.create({ tableId: table.id, dataJson: "{}" }),
      own,
    );
    await harness.tables.deleteTable({ tableId: table.id }, own);
    const events = await listAuditEvents(harness.database, own.identity.companyId);
    expect(
      events.map(({ type, data: { resourceId, resourceType } }) => [
        type,
        resourceType,
        resourceId,
      ]),
    ).toEqual([
      ["table.created", "table", table.id],
      ["table.updated", "table", table.id],
      ["table.deleted", "table", table.id],
    ]);
    expect(events[0]?.data.changes).toMatchObject({
      name: { from: null, to: "Customers" },
      maxRows: { from: null, to: 10_000 },
      columns: { added: ["a"], removed: [], modified: [] },
      metadata: { changed: true },
    });
    expect(events[1]?.data.changes).toEqual({
      name: { from: "Customers", to: "Renamed" },
      columns: { added: ["b"], removed: ["a"], modified: [] },
      schema: { changed: true },
    });
    expect(events[2]?.data.changes).toEqual({
      name: { from: "Renamed", to: null },
      rowCount: { from: 1, to: null },
    });
  });
});
